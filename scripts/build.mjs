// One program, one file, and V8's code cache beside it: a cold start reads both and parses nothing.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

// Made aside and moved into place: a program that starts meanwhile finds the old one or the new one, whole.
const made = "dist/next.cjs";
await build({
  entryPoints: ["packages/host/src/cli/bobbin.ts"],
  outfile: made,
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20",
  // It has native parts, which are found beside its own files. Required, because cached code can not import.
  external: ["@photostructure/sqlite"],
  supported: { "dynamic-import": false },
  // Names stay, for stack traces; white space is not worth reading at every start.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
});

for (const file of readdirSync("dist")) if (file.endsWith(".cache")) rmSync(`dist/${file}`);
renameSync(made, "dist/bobbin.cjs");

// The first run writes the cache: it does what every run does, so that this is what the cache holds.
const home = mkdtempSync(join(tmpdir(), "bobbin-build-"));
const lines = [
  { id: 1, method: "initialize", params: { clientInfo: { name: "build", version: "0" } } },
  { id: 2, method: "thread/start", params: { ephemeral: true } },
];
const run = spawnSync(process.execPath, ["bin/bobbin", "app-server"], {
  input: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  env: { ...process.env, BOBBIN_HOME: home },
});
rmSync(home, { recursive: true });
const cache = `dist/bobbin-${process.version}-${process.arch}.cache`;
if (run.status !== 0 || !existsSync(cache)) {
  process.stderr.write(`${run.stderr}\nbuild: the program does not start\n`);
  process.exit(1);
}
process.stderr.write(`built dist/bobbin.cjs (${Math.round(statSync("dist/bobbin.cjs").size / 1024)} kB)\n`);
