import { expect, it } from "vitest";
import { RECORDS } from "./records.ts";

it.each(Object.entries(RECORDS))("%s has a version, a durability and a place in forks", (_, entry) => {
  expect(entry.version).toBeGreaterThanOrEqual(1);
  expect(["written", "synced"]).toContain(entry.durability);
  expect(["never", "alone", "withTurn"]).toContain(entry.inFork);
  for (const part of [entry.fold, entry.notify, entry.check.accepts, entry.check.explain])
    expect(part).toBeTypeOf("function");
});
