// The program in a few files, with V8's code cache beside each: a cold start reads what it needs and parses nothing.
// Each package is a file of its own.
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
import { build, transform } from "esbuild";
import { WebSocket } from "ws";
import { lateBuiltins, lateModules } from "./late-modules.mjs";
import { packsOf } from "./packs.mjs";

const GOLDEN = "01a1e11e-8538-703d-834a-e6eb57dc6a9a";
const CLI = "packages/host/src/cli";
const START = [`${CLI}/bobbin.ts`, `${CLI}/run-app-server.ts`, "packages/host/src/server/listen/stdio.ts"];
const HOST = ["packages/host/src/compose.ts"];
/** Files of their own beside the program's. */
const APART = ["search-worker", "apply-patch"];
const SOCKETS = [`${CLI}/open-sockets.ts`, `${CLI}/welcome.ts`];

/** @type {import("esbuild").TransformOptions} */
const style = {
  platform: "node",
  target: "node20",
  // Names stay, for stack traces; white space is not worth reading at every start.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  charset: "ascii",
};

/** @type {Set<string>} */
const packages = new Set();
const late = lateModules((name) => {
  // It has native parts, which are found beside its own files.
  if (name === "@photostructure/sqlite") return name;
  packages.add(name);
  return `./packages/${fileOf(name)}.cjs`;
});

// Made aside and moved into place: a program that starts meanwhile finds the old one or the new one, whole.
mkdirSync("dist/packages", { recursive: true });
const made = mkdtempSync("dist/next-");
process.once("exit", () => rmSync(made, { recursive: true, force: true }));
// Only ES modules can be split, and only other scripts can be run from the cache: each part becomes one below.
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
  plugins: [late],
});
/** @type {Map<string, string>} */
const functions = new Map();
for (const { path, text } of outputFiles) {
  // Required, because cached code can not import.
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
  // Named by what is in it: a program that runs finds its own, also after another was built.
  return { file: `${name}-${hash}.cjs`, members, parts: parts.map((part) => `./${basename(part)}`) };
});
/** Which parts are in which file. */
const others = Object.fromEntries(later.map(({ file, parts }) => [file, parts]));
for (const { file, members } of later) writeFileSync(join(made, file), `({${members}})`);
writeFileSync(join(made, "bobbin.cjs"), `({others: ${JSON.stringify(others)}, ${start.members}})`);
// The first runs in a thread of its own, and is read when that starts. The second is a program for commands.
await build({
  ...style,
  bundle: true,
  format: "cjs",
  outdir: made,
  outExtension: { ".js": ".cjs" },
  entryPoints: APART.map((name) => ({ in: `${CLI}/${name}.ts`, out: name })),
  external: ["@photostructure/sqlite"],
});
await build({
  ...style,
  bundle: true,
  format: "cjs",
  outdir: join(made, "packages"),
  outExtension: { ".js": ".cjs" },
  entryPoints: [...packages].map((name) => ({ in: name, out: fileOf(name) })),
  plugins: [lateBuiltins],
});

removeOld();
for (const name of readdirSync(join(made, "packages"))) {
  renameSync(join(made, "packages", name), join("dist/packages", name));
}
for (const name of [...Object.keys(others), ...APART.map((name) => `${name}.cjs`), "bobbin.cjs"])
  renameSync(join(made, name), join("dist", name));

// The first runs write the caches, which hold what they have compiled: what every run does, and a first resume.
const home = mkdtempSync(join(tmpdir(), "bobbin-build-"));
const env = { ...process.env, BOBBIN_HOME: home, LOG_FORMAT: "json", LOG_LEVEL: "info" };
const messages = [
  { id: 1, method: "initialize", params: { clientInfo: { name: "build", version: "0" } } },
  { id: 2, method: "thread/start", params: { ephemeral: true } },
  { id: 3, method: "thread/resume", params: { threadId: GOLDEN } },
].map((message) => JSON.stringify(message));
// A journal with every record type, up to where its thread was unloaded.
const journal = readFileSync("packages/host/src/thread/golden-journal/journal.jsonl", "utf8");
const closed = journal.slice(0, journal.indexOf("\n", journal.indexOf('{"type":"notified"')) + 1);
const path = join(home, "sessions/2026/11/15", `rollout-2026-11-15T21-30-36-${GOLDEN}.jsonl`);
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, closed);
runOnStdio();
await runOnSocket();
rmSync(home, { recursive: true });
const caches = readdirSync("dist").filter((name) => name.endsWith(".cache"));
if (caches.length < 3) fail("the program has no caches");
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

/** What earlier builds made goes after an hour, because a program that runs may still come to need it; caches at once. */
function removeOld() {
  const hourAgo = Date.now() - 60 * 60 * 1000;
  for (const name of readdirSync("dist", { recursive: true, encoding: "utf8" })) {
    const path = join("dist", name);
    const isPart = /^(host|sockets|rest)-[0-9a-f]{12}\.cjs$/.test(name);
    if (name.endsWith(".cache") || (isPart && statSync(path).mtimeMs < hourAgo)) rmSync(path);
  }
}
