// The console names the types of records that the host writes.
import { expect, it } from "vitest";
import { RECORD_GROUPS } from "../../packages/console/src/journal/record-groups.ts";
import { RECORDS } from "../../packages/host/src/core/records.ts";

it("offers each type of record once in the filter of the console's journal", () => {
  expect(Object.values(RECORD_GROUPS).flat().sort()).toEqual(Object.keys(RECORDS).sort());
});
