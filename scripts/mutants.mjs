// Mutation testing of core/ and store/: changes the code a little, and expects that a test fails. Prints a table, names
// living mutants that docs/mutants.md does not explain, and ends with 1 if fewer mutants are killed than wanted.
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { mutantsOf } from "./mutants/generate.mjs";
import { importGraph } from "./mutants/import-graph.mjs";
import { measureReach, storedReach } from "./mutants/reach.mjs";
import { tryMutant } from "./mutants/run.mjs";
import { TestOrder } from "./mutants/test-order.mjs";
import { TestRunner } from "./mutants/test-runner.mjs";
import { copyTree, filesOf } from "./mutants/tree.mjs";

const USAGE = `usage: npm run mutants -- [options] [FILE or FOLDER ...]

  --count N      try N mutants, chosen at random (default 100; "all" for every one)
  --seed N       choose the same mutants again (default: another choice each time)
  --minutes N    begin no further mutant after this long
  --seconds N    leave out tests beyond this much of their usual time, the least likely ones, for each mutant
  --jobs N       mutants at the same time (default: half of the cores)
  --least N      fail if less than this per cent are killed (default 85)
  --json FILE    write every result to a file; mutants with a result in it are not tried again
  --retry        try living mutants of that file again
  --list         print the mutants instead of trying them
`;
/** The nearest unit tests, the models, the simulations and the contract of the stores. None of them starts a program. */
const TESTS =
  /^(packages\/host\/src\/(core|history|store|thread|turn)|test\/(model|simulation|store))\/.*\.test\.ts$/;
/** Sweeps over all places of a crash, which take as long as all other tests together. */
const SWEEPS = /^test\/model\/crash-/;
/** Code that is tests' own. */
const NOT_PRODUCT = /\.test\.ts$|\/fixtures\/|\/test-|\/sample-|\/contract\/|\/reference-index/;
const EXPLAINED = "docs/mutants.md";
const EXPLANATIONS = "## Living mutants that are explained";
/** Which test enters which code. Measuring it takes as long as all tests: that pays for this many mutants or more. */
const REACH = ".cache/mutants/reach.json";
const MEASURE_FROM = 20;

const { values: flags, positionals } = readFlags();
if (flags.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const folders = positionals.length > 0 ? positionals : ["packages/host/src/core", "packages/host/src/store"];
const seed = Number(flags.seed ?? Math.floor(Math.random() * 2 ** 31));
const all = filesIn(folders).flatMap((file) => mutantsOf(file, readFileSync(file, "utf8")));
const chosen = flags.count === "all" ? all : shuffled(all, seed).slice(0, number("count"));
if (flags.list) {
  for (const mutant of chosen) process.stdout.write(`${line(mutant)}\n`);
  process.exit(0);
}

// Read before the run, which may take an hour.
const leastPercent = number("least");
process.stdout.write(`${chosen.length} of ${all.length} mutants, seed ${seed}\n`);
const results = await tryAll();
report(results);

async function tryAll() {
  const mostMs = flags.seconds === undefined ? Infinity : number("seconds") * 1000;
  const until = flags.minutes === undefined ? Infinity : performance.now() + number("minutes") * 60_000;
  const folder = mkdtempSync(join(tmpdir(), "bobbin-mutants-"));
  const ids = new Map(chosen.map((mutant) => [mutant.id, mutant]));
  const done = storedResults().filter(({ id }) => ids.has(id));
  const known = new Set(done.map(({ id }) => id));
  const waiting = chosen.filter(({ id }) => !known.has(id));
  const runners = [];
  const cleanUp = () => {
    for (const runner of runners) runner.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => {
      cleanUp();
      process.exit(1);
    });
  let order;
  const work = async (_, at) => {
    const tree = join(folder, String(at));
    if (at > 0) copyTree(process.cwd(), tree);
    const runner = new TestRunner(tree);
    runners.push(runner);
    while (waiting.length > 0 && performance.now() < until) {
      const mutant = waiting.shift();
      const { killedBy, ms, tests } = await tryMutant({ tree, runner, order, mostMs }, mutant);
      done.push({ ...mutant, killedBy, ms: Math.round(ms), tests });
      store(done);
      const outcome = killedBy === null ? "LIVES " : "killed";
      const seconds = `${Math.round(ms / 1000)} s`.padStart(5);
      process.stdout.write(`${String(done.length).padStart(4)} ${outcome} ${seconds}  ${line(mutant)}\n`);
    }
  };
  try {
    copyTree(process.cwd(), join(folder, "0"));
    order = await testOrder(join(folder, "0"));
    await Promise.all(Array.from({ length: number("jobs") }, work));
  } finally {
    cleanUp();
  }
  return done;
}

/** Orders tests by their imports, and by what they were measured to enter if there are enough mutants. */
async function testOrder(tree) {
  const files = filesOf(process.cwd());
  const tests = files.filter((file) => TESTS.test(file) && !SWEEPS.test(file));
  const marked = filesIn(["packages/host/src/core", "packages/host/src/store"]);
  let reach = storedReach(REACH, tree, marked);
  if (chosen.length >= MEASURE_FROM) {
    process.stdout.write("running tests once, on the unchanged code …\n");
    reach = await measureReach(REACH, tree, marked, tests);
  }
  return new TestOrder(tests, importGraph(tree, files), reach);
}

function storedResults() {
  if (flags.json === undefined || !existsSync(flags.json)) return [];
  const stored = JSON.parse(readFileSync(flags.json, "utf8"));
  return flags.retry ? stored.filter(({ killedBy }) => killedBy !== null) : stored;
}

function store(done) {
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(done, null, 1)}\n`);
}

function report(done) {
  const explanations = readFileSync(EXPLAINED, "utf8").split(EXPLANATIONS)[1] ?? "";
  const fates = done.map(({ id, killedBy }) => fateOf(killedBy !== null, explanations.includes(id)));
  const areas = new Map([["all", { tried: 0, killed: 0, explained: 0, living: 0 }]]);
  for (const [at, { file }] of done.entries()) {
    const area = dirname(file).replace("packages/host/src/", "").split("/").slice(0, 2).join("/");
    if (!areas.has(area)) areas.set(area, { tried: 0, killed: 0, explained: 0, living: 0 });
    for (const counts of [areas.get("all"), areas.get(area)]) {
      counts.tried++;
      counts[fates[at]]++;
    }
  }
  const rows = [...areas].sort(([one], [other]) => (one < other ? -1 : 1));
  process.stdout.write(
    "\n| folder | tried | killed | explained | living |\n| --- | --: | --: | --: | --: |\n",
  );
  for (const [area, { tried, killed, explained, living }] of rows)
    process.stdout.write(`| ${area} | ${tried} | ${killed} | ${explained} | ${living} |\n`);
  const { tried, killed } = areas.get("all");
  const percent = tried === 0 ? 100 : (100 * killed) / tried;
  process.stdout.write(`\n${killed} of ${tried} killed: ${percent.toFixed(1)} %\n`);
  const living = done.filter((_, at) => fates[at] === "living");
  if (living.length > 0) {
    process.stdout.write(`\nNot explained in ${EXPLAINED}:\n`);
    for (const mutant of living) process.stdout.write(`  ${line(mutant)}\n`);
  }
  if (percent < leastPercent) {
    process.stdout.write(`\nfewer than ${flags.least} % were killed\n`);
    process.exitCode = 1;
  }
}

function fateOf(isKilled, isExplained) {
  if (isKilled) return "killed";
  return isExplained ? "explained" : "living";
}

function filesIn(paths) {
  return filesOf(process.cwd(), paths).filter((file) => file.endsWith(".ts") && !NOT_PRODUCT.test(file));
}

/** One line for a person: where, and what becomes what. */
function line({ id, file, line: at, before, text }) {
  const short = (code) => code.replace(/\s+/g, " ").slice(0, 60);
  return `${id} ${file}:${at}  ${short(before)}  →  ${short(text)}`;
}

/** The same order for the same seed. A change of the code moves only the mutants of that code. */
function shuffled(mutants, from) {
  const key = ({ id }) => createHash("sha256").update(`${from} ${id}`).digest("hex");
  return mutants
    .map((mutant) => [key(mutant), mutant])
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, mutant]) => mutant);
}

function number(name) {
  const value = Number(flags[name]);
  if (value > 0) return value;
  process.stderr.write(`mutants: --${name} takes a number above 0, not ${flags[name]}\n${USAGE}`);
  process.exit(2);
}

function readFlags() {
  const jobs = String(Math.max(1, Math.floor(availableParallelism() / 2)));
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        count: { type: "string", default: "100" },
        seed: { type: "string" },
        minutes: { type: "string" },
        seconds: { type: "string" },
        jobs: { type: "string", default: jobs },
        least: { type: "string", default: "85" },
        json: { type: "string" },
        retry: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    process.stderr.write(`mutants: ${error.message}\n${USAGE}`);
    process.exit(2);
  }
}
