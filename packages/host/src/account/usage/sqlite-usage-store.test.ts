import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nodeFiles } from "../../platform/node-files.ts";
import { SqliteUsageStore } from "./sqlite-usage-store.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "usage-store-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const ROW = {
  day: "2026-01-01",
  thread: "t",
  provider: "p",
  model: "m",
  effort: null,
  inputTokens: 1,
  cachedTokens: 0,
  outputTokens: 2,
};

it("reports why usage cannot be stored, although SQLite itself has ended the transaction", async () => {
  const path = join(home, "usage.sqlite");
  const store = new SqliteUsageStore(path, nodeFiles());
  await store.add([ROW], 5);
  const other = new DatabaseSync(path);
  // As on a full disk: the statement fails, and the transaction is gone.
  other.exec(
    "CREATE TRIGGER full BEFORE INSERT ON used BEGIN SELECT RAISE(ROLLBACK, 'the disk is full'); END",
  );
  await expect(store.add([ROW], 0)).rejects.toThrow("the disk is full");
  other.exec("DROP TRIGGER full");
  other.close();
  await store.add([ROW], 0);
  expect(await store.rows()).toEqual([{ ...ROW, inputTokens: 2, outputTokens: 4 }]);
  await store.close();
});
