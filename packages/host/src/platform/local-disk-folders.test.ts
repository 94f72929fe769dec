import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../test/support/folder.ts";
import { LocalDiskFolders } from "./local-disk-folders.ts";

it("looks into a missing folder as it looks into the closest folder that exists", async () => {
  const folders = new LocalDiskFolders();
  const folder = await freshFolder("local");
  const [here, missing] = [join(folder, "file"), join(folder, "no", "such", "file")];
  // The first looks start the queries. Whether this disk is a local one, a look says once its query is answered.
  expect([folders.lstatIfExists(here), folders.lstatIfExists(missing)]).toEqual([undefined, undefined]);
  await eventually(() => folders.lstatIfExists(here) !== undefined, "the disk of the test is known as local");
  await eventually(() => folders.lstatIfExists(missing) !== undefined, "the missing folder counts as local");
  expect(folders.lstatIfExists(missing)).toEqual({ value: undefined });
});
