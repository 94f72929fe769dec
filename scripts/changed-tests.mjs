// Chooses the tests that a change can touch, for `npm test -- --changed`.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { importGraph } from "./mutants/import-graph.mjs";

/** Tests of whole programs, which load nothing of the program that they run. */
const PROGRAM_TESTS = /^(test\/scenario|examples)\//;
/** Tests in their long form only. They are run if they were changed themselves. */
const LONG = /^test\/(long|clients|packages|runtimes|import-homes|storm)\//;
/** What tests of programs run. */
const PROGRAM = /^(packages\/[^/]+\/src|bin)\/(?!.*\.test\.ts$)/;
const PAGES = /\.md$/;
const PAGE_TESTS = /^test\/docs\//;
/** Top-level tests look at scripts, manifests and the tree itself. */
const TREE = /^(scripts\/|package(-lock)?\.json$|\.ci\/|knip\.json$|.*\.test\.ts$)/;
const TREE_TESTS = /^test\/[^/]+\.test\.ts$/;
/** How far apart in imports a unit test and a changed file may be for the test to be run whatever it takes. */
const NEAR = 2;
/** Words that are in too many paths to say anything. */
const COMMON = new Set("packages host src test tests scenario index thread threads ts".split(" "));

/**
 * The changed files: those of all commits since `base`, those that are not committed, and new ones.
 *
 * @param {string} base
 */
export function changedFiles(base) {
  const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).split("\n").filter(Boolean);
  const [from] = git("merge-base", base, "HEAD");
  return [
    ...new Set([...git("diff", "--name-only", from), ...git("ls-files", "--others", "--exclude-standard")]),
  ];
}

/**
 * Orders the tests that a change can touch by how likely that is, and takes as many as there is time for.
 *
 * @param {object} options
 * @param {string} options.root
 * @param {readonly string[]} options.files all files of the tree
 * @param {readonly string[]} options.changed
 * @param {Readonly<Record<string, number>>} options.seconds how long each test file took last time
 * @param {number} options.budget seconds of all test files together
 * @returns {{ readonly chosen: string[], readonly candidates: number }}
 */
export function changedTests({ root, files, changed, seconds, budget }) {
  const modulesOf = importGraph(
    root,
    files.filter((file) => /\.(ts|tsx|mjs)$/.test(file)),
  );
  const words = new Set(changed.flatMap(wordsOf));
  const ranked = files
    .filter((file) => file.endsWith(".test.ts") && (!LONG.test(file) || changed.includes(file)))
    .map((test) => ({ test, rank: rankOf(test, changed, words, modulesOf) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((a, b) => a.rank - b.rank || (a.test < b.test ? -1 : 1));
  let left = budget;
  const chosen = ranked.filter(({ test, rank }) => {
    left -= seconds[test] ?? (PROGRAM_TESTS.test(test) ? 4 : 1);
    return rank <= NEAR || left > 0;
  });
  return { chosen: chosen.map(({ test }) => test), candidates: ranked.length };
}

/** 0 for a test that was changed itself; the larger, the less likely it is touched; Infinity if it cannot be. */
function rankOf(test, changed, words, modulesOf) {
  if (changed.includes(test)) return 0;
  const modules = modulesOf(test);
  const distance = Math.min(...changed.map((file) => modules.get(file) ?? Infinity));
  if (distance <= NEAR) return distance;
  const touchesProgram = PROGRAM_TESTS.test(test) && changed.some((file) => PROGRAM.test(file));
  const touchesPages = PAGE_TESTS.test(test) && changed.some((file) => PAGES.test(file));
  const touchesTree = TREE_TESTS.test(test) && changed.some((file) => TREE.test(file));
  if (touchesPages || touchesTree) return NEAR + 1;
  if (distance === Infinity && !touchesProgram) return Infinity;
  const common = wordsOf(test).filter((word) => words.has(word)).length;
  return NEAR + 1 + 2 ** (Math.min(distance, 10) - 3 * common);
}

function wordsOf(path) {
  const [folder] = path.split("/").slice(-2);
  return [...new Set(`${folder} ${basename(path)}`.split(/[^a-z]+/))].filter(
    (word) => word.length > 1 && !COMMON.has(word),
  );
}

/** How long each test file took in the last whole run on this machine. */
export function storedSeconds(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}
