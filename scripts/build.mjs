// One program, one file, and V8's code cache beside it: a cold start reads both and parses nothing. Packages that a
// plain start does not need are files of their own.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { lateModules } from "./late-modules.mjs";

/** @type {import("esbuild").BuildOptions} */
const options = {
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20",
  outdir: "dist",
  outExtension: { ".js": ".cjs" },
  // Names stay, for stack traces; white space is not worth reading at every start.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  charset: "ascii",
};

/** @type {Set<string>} */
const packages = new Set();
const inOwnFile = lateModules((name) => {
  // It has native parts, which are found beside its own files.
  if (name === "@photostructure/sqlite") return name;
  packages.add(name);
  return `./${fileOf(name)}.cjs`;
});

// Made aside and moved into place: a program that starts meanwhile finds the old one or the new one, whole.
mkdirSync("dist", { recursive: true });
const made = mkdtempSync("dist/next-");
process.once("exit", () => rmSync(made, { recursive: true, force: true }));
await build({
  ...options,
  outdir: made,
  entryPoints: [{ in: "packages/host/src/cli/bobbin.ts", out: "bobbin" }],
  // Required, because cached code can not import.
  supported: { "dynamic-import": false },
  plugins: [inOwnFile],
  // What `bin/bobbin` runs: put around it here, so that no start has to copy it for that.
  banner: { js: "(function (exports, require, module, __filename, __dirname) {" },
  footer: { js: "})" },
});
// Runs in a thread of its own, and is read when that starts.
await build({
  ...options,
  outdir: made,
  entryPoints: [{ in: "packages/host/src/cli/search-worker.ts", out: "search-worker" }],
  external: ["@photostructure/sqlite"],
});
await build({
  ...options,
  outdir: made,
  entryPoints: [...packages].map((name) => ({ in: name, out: fileOf(name) })),
});

for (const file of readdirSync("dist")) if (file.endsWith(".cache")) rmSync(`dist/${file}`);
for (const file of readdirSync(made)) renameSync(join(made, file), join("dist", file));

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

/** @param {string} name of a package */
function fileOf(name) {
  return name.replace(/^@/, "").replaceAll("/", "+");
}
