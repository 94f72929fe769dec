// What `npm test` (scripts/test.mjs) says before it runs the tests, with checks and tests that do nothing.
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "./support/folder.ts";

const script = join(import.meta.dirname, "../scripts/test.mjs");

it.each([
  [undefined, "about 5 minutes"],
  ["", "about 5 minutes"],
  ["0", "about 5 minutes"],
  ["1", "about 25 minutes"],
  ["10", "about 250 minutes"],
])("announces the time of the form that it runs (BOBBIN_FULL=%j)", async (full, minutes) => {
  const folder = await freshFolder();
  for (const name of ["scripts/check.mjs", "node_modules/vitest/vitest.mjs"]) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), "");
  }
  const { BOBBIN_FULL: _, ...rest } = process.env;
  const env = full === undefined ? rest : { ...rest, BOBBIN_FULL: full };
  const said = execFileSync(process.execPath, [script], { cwd: folder, env, encoding: "utf8" });
  expect(said).toContain(`tests, ${minutes} on two idle cores`);
});
