import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { replaceFile } from "./replace-file.ts";

it("[FS-3] leaves a file as it was if the new one cannot be written", async () => {
  const folder = await freshFolder("replace");
  writeFileSync(join(folder, "file"), "old");
  const written = replaceFile({
    folder,
    name: "file",
    mode: 0o600,
    synced: true,
    async fill(draft) {
      await draft.writeFile("half of it");
      throw new Error("the disk is full");
    },
  });
  await expect(written).rejects.toThrow("the disk is full");
  expect(readFileSync(join(folder, "file"), "utf8")).toBe("old");
  expect(readdirSync(folder)).toEqual(["file"]);
});
