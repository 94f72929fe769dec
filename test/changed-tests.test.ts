// Which tests `npm test -- --changed` runs (scripts/changed-tests.mjs).
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { freshFolder } from "./support/folder.ts";

interface Options {
  readonly root: string;
  readonly files: readonly string[];
  readonly changed: readonly string[];
  readonly seconds: Readonly<Record<string, number>>;
  readonly budget: number;
}
interface ChangedTests {
  changedTests(options: Options): { chosen: string[]; candidates: number };
}
const script = new URL("../scripts/changed-tests.mjs", import.meta.url).href;
const { changedTests } = (await import(/* @vite-ignore */ script)) as ChangedTests;

/** Each file with what it imports. */
const TREE: Readonly<Record<string, readonly string[]>> = {
  "packages/host/src/rap/callback.ts": [],
  "packages/host/src/rap/callback.test.ts": ["./callback.ts"],
  "packages/host/src/rap/rap.ts": ["./callback.ts"],
  "packages/host/src/rap/rap.test.ts": ["./rap.ts"],
  "packages/host/src/compose.ts": ["./rap/rap.ts"],
  "packages/host/src/other.ts": [],
  "packages/host/src/other.test.ts": ["./other.ts"],
  "test/simulation/world.ts": ["../../packages/host/src/compose.ts"],
  "test/simulation/storm.test.ts": ["./world.ts"],
  "test/scenario/rap-callbacks.test.ts": [],
  "test/scenario/rap.test.ts": [],
  "test/scenario/skills.test.ts": [],
  "test/long/crowd.test.ts": ["../../packages/host/src/rap/callback.ts"],
  "test/docs/pages.test.ts": [],
  "test/layering.test.ts": [],
};
let root: string;
beforeAll(async () => {
  root = await freshFolder("tree");
  for (const [file, imports] of Object.entries(TREE)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), imports.map((name) => `import "${name}";\n`).join(""));
  }
});

const choose = (changed: readonly string[], budget = 1000, seconds = {}) =>
  changedTests({ root, files: [...Object.keys(TREE), "docs/rap.md"], changed, seconds, budget });

it("runs the nearest tests first, then programs' tests that share words with the change", () => {
  expect(choose(["packages/host/src/rap/callback.ts"])).toEqual({
    chosen: [
      "packages/host/src/rap/callback.test.ts",
      "packages/host/src/rap/rap.test.ts",
      "test/simulation/storm.test.ts",
      "test/scenario/rap-callbacks.test.ts",
      "test/scenario/rap.test.ts",
      "test/scenario/skills.test.ts",
    ],
    candidates: 6,
  });
});

it("leaves out the farthest ones if there is no time, but never the nearest", () => {
  const seconds = { "packages/host/src/rap/callback.test.ts": 500, "packages/host/src/rap/rap.test.ts": 1 };
  expect(choose(["packages/host/src/rap/callback.ts"], 100, seconds)).toEqual({
    chosen: ["packages/host/src/rap/callback.test.ts", "packages/host/src/rap/rap.test.ts"],
    candidates: 6,
  });
});

it.each([
  ["docs/rap.md", ["test/docs/pages.test.ts"]],
  ["scripts/check.mjs", ["test/layering.test.ts"]],
  ["test/long/crowd.test.ts", ["test/long/crowd.test.ts", "test/layering.test.ts"]],
  ["LICENSE", []],
])("runs what looks at %s, and nothing else", (changed, chosen) => {
  expect(choose([changed]).chosen).toEqual(chosen);
});
