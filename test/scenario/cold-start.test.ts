import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { runBobbin } from "../support/run-bobbin.ts";

/** Says, with the first reply, what was loaded by then: of Node itself, as modules, and as files. */
const WITNESS = `const fs = require("node:fs");
const { readFileSync } = fs;
const read = [];
fs.readFileSync = (path, ...rest) => {
  read.push(path);
  return readFileSync(path, ...rest);
};
const { write } = process.stdout;
process.stdout.write = (...reply) => {
  process.stdout.write = write;
  process.stderr.write(JSON.stringify([...process.moduleLoadList, ...Object.keys(require.cache), ...read]));
  return process.stdout.write(...reply);
};`;

const initialize = {
  id: 1,
  method: "initialize",
  params: { clientInfo: { name: "scenario", version: "1" } },
};
// Each of them takes a millisecond or more.
const HEAVY =
  /^NativeModule (child_process|crypto|dgram|fs\/promises|http|https|perf_hooks|tls|worker_threads|zlib)$/;

describe("a plain start", () => {
  it("loads nothing that its first reply does not need", async () => {
    const witness = join(await freshFolder("witness"), "witness.cjs");
    await writeFile(witness, WITNESS);
    const run = await runBobbin(["app-server"], {
      input: `${JSON.stringify(initialize)}\n`,
      env: { NODE_OPTIONS: `--require ${witness}` },
    });
    expect(JSON.parse(run.stdout)).toHaveProperty("result.userAgent");
    const loaded = JSON.parse(run.stderr) as string[];
    expect(loaded).toContain("NativeModule fs");
    expect(loaded.filter((name) => HEAVY.test(name))).toEqual([]);
    expect(loaded.filter((name) => /node_modules/.test(name))).toEqual([]);
    const dist = loaded.filter((name) => /[\\/]dist[\\/]/.test(name)).map((name) => basename(name));
    expect(dist).toEqual(["bobbin.cjs", expect.stringMatching(/^bobbin\.cjs\..+\.cache$/)]);
  });
});
