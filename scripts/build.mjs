// Builds dist/: bundles the program into a few files, each npm package into a file of its own, and the console into
// static files. Then runs the program to create V8's code cache for each file, so that a cold start compiles nothing.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build, transform } from "esbuild";
import { build as buildPages } from "vite";
import { WebSocket } from "ws";
import { packsOf } from "./bundle-packs.mjs";
import { lazyBuiltins, lazyModules } from "./lazy-modules.mjs";

// A build that a test starts inherits `test`, and Vite would then make a development build of the console.
process.env.NODE_ENV = "production";

const GOLDEN = "01a1e11e-8538-703d-834a-e6eb57dc6a9a";
const CLI = "packages/host/src/cli";
const START = [`${CLI}/bobbin.ts`, `${CLI}/app-server.ts`, "packages/host/src/server/listen/stdio.ts"];
const HOST = ["packages/host/src/compose.ts"];
/** Entry points that are bundled separately: two worker threads, and two programs that run in processes of their own. */
const SEPARATE = [
  "store/files/index/search-worker",
  "search/file-search-worker",
  "cli/apply-patch",
  "platform/keyring-program",
];
const SOCKETS = [
  `${CLI}/open-sockets.ts`,
  `${CLI}/welcome-message.ts`,
  "packages/host/src/platform/node-socket-owners.ts",
];

/** @type {import("esbuild").TransformOptions} */
const style = {
  platform: "node",
  target: "node20",
  // Identifiers are not minified, for readable stack traces.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  charset: "ascii",
};

/** @type {Set<string>} */
const packages = new Set();
const lazy = lazyModules((name) => {
  // Not bundled: it has native parts, which it looks for beside its own files.
  if (name === "@photostructure/sqlite") return name;
  packages.add(name);
  return `./packages/${fileOf(name)}.cjs`;
});

// Built in a temporary folder and then moved, so that a program that starts meanwhile finds whole files.
mkdirSync("dist/packages", { recursive: true });
const made = mkdtempSync("dist/next-");
process.once("exit", () => rmSync(made, { recursive: true, force: true }));
// esbuild splits only ES modules, and V8's code cache works only for scripts. So each part is converted to a script
// below.
const { outputFiles, metafile } = await build({
  ...style,
  bundle: true,
  format: "esm",
  splitting: true,
  write: false,
  metafile: true,
  outdir: made,
  entryPoints: [{ in: `${CLI}/bobbin.ts`, out: "bobbin" }],
  chunkNames: "part-[hash]",
  plugins: [lazy],
});
/** @type {Map<string, string>} */
const functions = new Map();
for (const { path, text } of outputFiles) {
  // Converted to `require`, because a script from the code cache cannot use `import()`.
  const { code } = await transform(text, { ...style, format: "cjs", supported: { "dynamic-import": false } });
  functions.set(
    relative(process.cwd(), path),
    `${JSON.stringify(`./${basename(path)}`)}(exports, require, module, __filename, __dirname) {${code}\n}`,
  );
}
const packs = packsOf(metafile.outputs, { start: START, host: HOST, sockets: SOCKETS });
const [start, ...later] = packs.map(({ name, parts }) => {
  const members = parts.map((part) => functions.get(part)).join(",\n");
  const hash = createHash("sha256").update(members).digest("hex").slice(0, 12);
  // Named by a hash of its content, so that a running program still finds its own parts after another build.
  return { file: `${name}-${hash}.cjs`, members, parts: parts.map((part) => `./${basename(part)}`) };
});
/** The parts that each file contains. */
const others = Object.fromEntries(later.map(({ file, parts }) => [file, parts]));
for (const { file, members } of later) writeFileSync(join(made, file), `({${members}})`);
writeFileSync(join(made, "bobbin.cjs"), `({others: ${JSON.stringify(others)}, ${start.members}})`);
await build({
  ...style,
  bundle: true,
  format: "cjs",
  outdir: made,
  outExtension: { ".js": ".cjs" },
  entryPoints: SEPARATE.map((path) => ({ in: `packages/host/src/${path}.ts`, out: basename(path) })),
  // Not bundled: they have native parts, which they look for beside their own files.
  external: ["@photostructure/sqlite", "@napi-rs/keyring"],
});
await build({
  ...style,
  bundle: true,
  format: "cjs",
  outdir: join(made, "packages"),
  outExtension: { ".js": ".cjs" },
  entryPoints: [...packages].map((name) => ({ in: name, out: fileOf(name) })),
  plugins: [lazyBuiltins],
});

await buildPages({
  configFile: "packages/console/vite.config.ts",
  build: { outDir: join(process.cwd(), made, "console") },
});

compressAssets(join(made, "console/assets"));

removeOld();
moveConsole();
for (const name of readdirSync(join(made, "packages"))) {
  renameSync(join(made, "packages", name), join("dist/packages", name));
}
for (const name of [...Object.keys(others), ...SEPARATE.map((path) => `${basename(path)}.cjs`), "bobbin.cjs"])
  renameSync(join(made, name), join("dist", name));

// Runs the program once on stdio and once on a socket. These runs write the code caches, which then contain all
// functions that a start, a new thread and a resume compile.
const home = mkdtempSync(join(tmpdir(), "bobbin-build-"));
const env = { ...process.env, BOBBIN_HOME: home, LOG_FORMAT: "json", LOG_LEVEL: "info" };
const messages = [
  { id: 1, method: "initialize", params: { clientInfo: { name: "build", version: "0" } } },
  { id: 2, method: "thread/start", params: { ephemeral: true } },
  { id: 3, method: "thread/resume", params: { threadId: GOLDEN } },
].map((message) => JSON.stringify(message));
// The golden journal, which has every record type, up to the unload of its thread.
const journal = readFileSync("packages/host/src/thread/golden-journal/journal.jsonl", "utf8");
const closed = journal.slice(0, journal.indexOf("\n", journal.indexOf('{"type":"notified"')) + 1);
const path = join(home, "sessions/2026/11/15", `rollout-2026-11-15T21-30-36-${GOLDEN}.jsonl`);
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, closed);
runOnStdio();
await runOnSocket();
rmSync(home, { recursive: true });
const caches = readdirSync("dist").filter((name) => name.endsWith(".cache"));
if (caches.length < 3) fail("the runs of the program wrote no code caches into dist/");
const sizes = ["bobbin.cjs", ...Object.keys(others)].map((name) =>
  Math.round(statSync(join("dist", name)).size / 1024),
);
process.stderr.write(`built dist/bobbin.cjs (${sizes.join(" + ")} kB)\n`);

function runOnStdio() {
  const input = messages.map((line) => `${line}\n`).join("");
  const run = spawnSync(process.execPath, ["bin/bobbin", "app-server"], { input, env });
  if (run.status !== 0) fail(`the program does not start\n${run.stderr}`);
}

async function runOnSocket() {
  const program = spawn(process.execPath, ["bin/bobbin", "app-server", "--listen", "ws://127.0.0.1:0"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 30_000,
  });
  const exited = once(program, "exit");
  let said = "";
  for await (const text of program.stderr.setEncoding("utf8")) {
    said += text;
    const url = /ws:\/\/[\d.]+:\d+/.exec(said)?.[0];
    if (url === undefined) continue;
    await converse(url);
    program.kill();
    break;
  }
  const [code] = await exited;
  if (code !== 0) fail(`the program does not listen\n${said}`);
}

/** @param {string} url */
async function converse(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, "open");
  let answers = 0;
  const answered = new Promise((resolve) => {
    socket.on("message", (data) => {
      if ("result" in JSON.parse(data.toString()) && ++answers === messages.length) resolve(undefined);
    });
  });
  for (const message of messages) socket.send(message);
  await answered;
  socket.close();
}

/** @param {string} message @returns {never} */
function fail(message) {
  process.stderr.write(`build: ${message}\n`);
  process.exit(1);
}

/** @param {string} name of a package */
function fileOf(name) {
  return name.replace(/^@/, "").replaceAll("/", "+");
}

/** Compresses each file once, as small as possible, so that the host never compresses. @param {string} folder */
function compressAssets(folder) {
  for (const name of readdirSync(folder)) {
    const content = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}

/** The page comes last, because it names the other files. Those have a hash of their content in their names. */
function moveConsole() {
  mkdirSync("dist/console/assets", { recursive: true });
  const assets = readdirSync(join(made, "console/assets"));
  for (const name of [...assets.map((asset) => `assets/${asset}`), "index.html"])
    renameSync(join(made, "console", name), join("dist/console", name));
  const current = new Set(assets);
  for (const name of readdirSync("dist/console/assets"))
    if (!current.has(name)) rmSync(join("dist/console/assets", name));
}

/** Deletes old code caches, and files of earlier builds after an hour: a running program may still need them. */
function removeOld() {
  const hourAgo = Date.now() - 60 * 60 * 1000;
  for (const name of readdirSync("dist", { recursive: true, encoding: "utf8" })) {
    const path = join("dist", name);
    const isPart = /^(host|sockets|rest)-[0-9a-f]{12}\.cjs$/.test(name);
    if (name.endsWith(".cache") || (isPart && statSync(path).mtimeMs < hourAgo)) rmSync(path);
  }
}
