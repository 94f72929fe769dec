import { DatabaseSync } from "@photostructure/sqlite";
import { expect, it } from "vitest";
import { IndexQueries } from "./index-queries.ts";

it("prepares a statement once, and forgets all when it has 64 of them", () => {
  const db = new DatabaseSync(":memory:");
  const queries = new IndexQueries(db);
  const at = (nth: number) => queries.prepared(`SELECT ${nth} AS n`);
  const all = Array.from({ length: 64 }, (_, nth) => at(nth));
  expect(all.map((statement) => statement.get())).toEqual(all.map((_, n) => ({ n })));
  for (const nth of [0, 63]) expect(at(nth)).toBe(all[nth]);
  const next = at(64);
  for (const nth of [0, 63]) expect(at(nth)).not.toBe(all[nth]);
  expect(at(64)).toBe(next);
  queries.close();
  expect(at(64)).not.toBe(next);
  db.close();
});
