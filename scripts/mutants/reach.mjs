// Measures which regions of the code each test file enters, and how long it takes. The measurement is kept in a file.
// Files and tests whose code was edited since then count as unknown: every test that loads such a file may notice a
// change. Comments do not matter.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "vite";
import { ENTERED, regionAt, regionsOf } from "./regions.mjs";
import { TestRunner } from "./test-runner.mjs";

const SETUP = "test/support/mutants-entered.ts";
/** Loaded before each test file. Regions that are entered while modules load count for every test that loads them. */
const SETUP_CODE = `import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect } from "vitest";
const g = globalThis as unknown as { ${ENTERED}?: number[] };
const take = () => { const found = Object.keys(g.${ENTERED} ?? []).map(Number); g.${ENTERED} = []; return found; };
let loading: number[] = [];
beforeAll(() => { loading = take(); });
afterAll(() => {
  const test = expect.getState().testPath!;
  const name = test.replaceAll("/", "%");
  writeFileSync(process.env.BOBBIN_MUTANTS_ENTERED + "/" + name, JSON.stringify({ test, loading, running: take() }));
});
`;

const EMPTY = { files: {}, tests: {}, loading: [] };
/** A new measurement is made when more than this part of the files was edited. */
const MOST_EDITED = 0.2;

/** The stored measurement; an empty one if there is none, or if it is too old. */
export function storedReach(path, root, marked) {
  let stored = EMPTY;
  try {
    stored = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  const edited = marked.filter((file) => stored.files[file]?.digest !== digestOf(root, file));
  return new Reach(root, edited.length > MOST_EDITED * marked.length ? EMPTY : stored);
}

/**
 * Runs the tests that are not measured yet, in a copy of the tree, with marks in the files whose regions are wanted.
 * Restores the files, and stores the result.
 */
export async function measureReach(path, tree, marked, tests) {
  const before = storedReach(path, tree, marked);
  const missing = tests.filter((test) => before.ms(test) === undefined);
  if (missing.length === 0) return before;
  const entered = join(tree, "mutants-entered");
  mkdirSync(entered);
  writeFileSync(join(tree, SETUP), SETUP_CODE);
  const sources = new Map(marked.map((file) => [file, readFileSync(join(tree, file), "utf8")]));
  const files = before.isEmpty ? numbered(tree, sources) : before.stored.files;
  for (const [file, source] of sources)
    if (files[file]?.digest === digestOf(tree, file))
      writeFileSync(join(tree, file), regionsOf(file, source, files[file].first).marked);
  const env = {
    BOBBIN_MUTANTS_SETUP: JSON.stringify([SETUP]),
    BOBBIN_MUTANTS_ENTERED: entered,
    BOBBIN_MUTANTS_BAIL: "0",
  };
  const runner = new TestRunner(tree, env);
  try {
    const { failed, passed, hangs } = await runner.run(missing, undefined, { factor: 10 });
    if (hangs !== undefined) throw new Error(`${hangs} hangs on the unchanged code`);
    if (failed !== null)
      process.stderr.write(
        `fails on the unchanged code: ${failed.file}: ${failed.title}: ${failed.message}\n`,
      );
    const { tests: found, loading } = measured(tree, entered, passed);
    const stored = {
      files,
      tests: { ...before.stored.tests, ...found },
      loading: [...new Set([...before.stored.loading, ...loading])],
    };
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(stored));
    return new Reach(tree, stored);
  } finally {
    runner.close();
    for (const [file, source] of sources) writeFileSync(join(tree, file), source);
  }
}

/** The number of the first region of each file. The others follow in the order of the code. */
function numbered(tree, sources) {
  const files = {};
  let first = 0;
  for (const [file, source] of sources) {
    files[file] = { digest: digestOf(tree, file), first };
    first += regionsOf(file, source, first).regions.length;
  }
  return files;
}

/** Reads what the tests that passed have written about themselves. */
function measured(tree, folder, passed) {
  const tests = {};
  const loading = [];
  for (const name of readdirSync(folder)) {
    const { test, ...found } = JSON.parse(readFileSync(join(folder, name), "utf8"));
    const file = test.slice(tree.length + 1);
    if (passed[file] === undefined) continue;
    loading.push(...found.loading);
    tests[file] = { digest: digestOf(tree, file), ms: passed[file], entered: found.running };
  }
  return { tests, loading };
}

class Reach {
  #root;
  #loading;
  #entered = new Map();
  #regions = new Map();

  constructor(root, stored) {
    this.#root = root;
    this.stored = stored;
    this.#loading = new Set(stored.loading);
  }

  get isEmpty() {
    return this.stored === EMPTY;
  }

  /** Can a test that loads the file of a change notice the change? Yes if one of the two files was edited. */
  enters(test, change) {
    const entered = this.#enteredBy(test);
    const regions = this.#regionsOf(change.file);
    if (entered === undefined || regions === undefined) return true;
    const region = regionAt(regions, change);
    return region === undefined || this.#loading.has(region) || entered.has(region);
  }

  /** How long a test file took, or undefined for one that is new or was edited. */
  ms(test) {
    return this.#enteredBy(test) && this.stored.tests[test].ms;
  }

  /** The regions of a file, or undefined if it was edited. */
  #regionsOf(file) {
    if (!this.#regions.has(file)) {
      const { digest, first } = this.stored.files[file] ?? {};
      const source = readFileSync(join(this.#root, file), "utf8");
      const isSame = digest === digestOf(this.#root, file);
      this.#regions.set(file, isSame ? regionsOf(file, source, first).regions : undefined);
    }
    return this.#regions.get(file);
  }

  #enteredBy(test) {
    if (!this.#entered.has(test)) {
      const found = this.stored.tests[test];
      const same = found !== undefined && found.digest === digestOf(this.#root, test);
      this.#entered.set(test, same ? new Set(found.entered) : undefined);
    }
    return this.#entered.get(test);
  }
}

/** A digest of a file's code, without its comments and its layout. */
export function digestOf(root, file) {
  const source = readFileSync(join(root, file), "utf8");
  let code = "";
  let from = 0;
  for (const { start, end } of parseSync(file, source).comments) {
    code += source.slice(from, start);
    from = end;
  }
  code += source.slice(from);
  return createHash("sha256").update(code.replace(/\s+/g, "")).digest("hex");
}
