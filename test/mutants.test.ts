// The mutants that `npm run mutants` tries, and the tests that it chooses for each.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { freshFolder } from "./support/folder.ts";

interface Mutant {
  readonly id: string;
}

interface Generator {
  mutantsOf(file: string, source: string): readonly Mutant[];
  withMutant(source: string, mutant: Mutant): string;
}

interface Region {
  readonly number: number;
}

interface Regions {
  regionsOf(file: string, source: string, first: number): { regions: readonly Region[]; marked: string };
  regionAt(regions: readonly Region[], change: { start: number; end: number }): number | undefined;
}

type Loads = (test: string) => Map<string, number>;

interface ImportGraph {
  importGraph(root: string, files: readonly string[]): Loads;
}

interface Change {
  readonly file: string;
}

interface Order {
  testsFor(change: Change): readonly string[];
  learn(test: string, failed: boolean): void;
}

interface TestOrders {
  TestOrder: new (
    tests: readonly string[],
    loads: Loads,
    reach?: { enters(test: string, change: Change): boolean; ms(test: string): number | undefined },
  ) => Order;
}

const script = (name: string): string => new URL(`../scripts/mutants/${name}.mjs`, import.meta.url).href;
const { mutantsOf, withMutant } = (await import(script("generate"))) as Generator;
const { regionsOf, regionAt } = (await import(script("regions"))) as Regions;
const { importGraph } = (await import(script("import-graph"))) as ImportGraph;
const { TestOrder } = (await import(script("test-order"))) as TestOrders;

const changes = (source: string): string[] =>
  mutantsOf("sample.ts", source).map((mutant) => withMutant(source, mutant));

it("negates conditions, and turns comparisons around", () => {
  expect(changes("if (ready) go;")).toEqual(["if (!(ready)) go;"]);
  expect(changes("const x = a < 1 && b;")).toEqual(["const x = a < 1 || b;", "const x = a <= 1 && b;"]);
});

it("leaves out statements, and leaves log lines and joined texts alone", () => {
  expect(changes("send(reply);")).toEqual([";"]);
  expect(changes('log.warn("x"); this.#options.log.info("y"); z = `a` + b;')).toEqual([
    'log.warn("x"); this.#options.log.info("y"); ;',
  ]);
});

it("makes undefined of calls that are returned, but not of a settled promise of nothing", () => {
  const returned = (what: string) => changes(`function f() { return ${what}; }`);
  expect(returned("g()")).toEqual(["function f() { return undefined; }"]);
  expect(returned("Promise.resolve(1)")).toEqual(["function f() { return undefined; }"]);
  expect(returned("Promise.resolve()")).toEqual([]);
});

it("changes no types", () => {
  expect(changes("type T = true; const f = (x: true | false): x is true => x as true;")).toEqual([]);
});

it("gives a mutant the same id when lines above it change", () => {
  const [first] = mutantsOf("sample.ts", "if (ready) go;");
  const [second] = mutantsOf("sample.ts", "const added = 1;\nif (ready) go;");
  expect(second).toMatchObject({ id: first!.id, line: 2 });
  const twins = mutantsOf("sample.ts", "if (ready) go;\nif (ready) go;");
  expect(new Set(twins.map(({ id }) => id)).size).toBe(2);
});

describe("the regions of a file", () => {
  it("are entered as the code runs, and the innermost one decides", () => {
    const source =
      "const f = (a) => a ? ({ b: 1 }) : g(a); function g(a) { if (a) { return 2; } switch (a) { case 0: return 3; } }";
    const { regions, marked } = regionsOf("sample.ts", source, 10);
    const entered = (call: string): readonly number[] => {
      const scope: { __bobbinEntered?: number[] } = {};
      runInNewContext(`${marked}; ${call};`, scope);
      return Object.keys(scope.__bobbinEntered ?? []).map(Number);
    };
    const at = (text: string): number | undefined => {
      const start = source.indexOf(text);
      return regionAt(regions, { start, end: start + text.length });
    };
    expect(at("const f")).toBeUndefined();
    expect(entered("")).toEqual([]);
    expect(entered("f(1)")).toEqual([at("b: 1")]);
    expect(entered("f(0)")).toEqual([at("b: 1"), at("if (a)"), at("return 3")]);
    expect(entered("g(1)")).toEqual([at("if (a)"), at("return 2")]);
  });
});

describe("the tests for a change", () => {
  it("are those that load the file, in whatever way, and not for its types", async () => {
    const root = await freshFolder("mutants");
    const files = {
      "a.ts": "export const a = 1; export type A = 1;",
      "src/b.ts": 'export { a } from "../a.ts";',
      "direct.test.ts": 'import { a } from "./a.ts";',
      "through.test.ts": 'const { a } = await import("./src/b.ts");',
      "worker.test.ts": 'new Worker(new URL("./a.ts", import.meta.url));',
      "types.test.ts": 'import type { A } from "./a.ts"; import { type A as B } from "./a.ts";',
    };
    await mkdir(join(root, "src"));
    for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
    const loads = importGraph(root, Object.keys(files));
    const distances = Object.keys(files).map((file) => loads(file).get("a.ts"));
    expect(distances).toEqual([0, 1, 1, 2, 1, undefined]);
  });

  it("begin with the file's own, then follow what was quick to notice changes before", () => {
    const tests = ["far.test.ts", "quick.test.ts", "core/x.test.ts", "other.test.ts", "blind.test.ts"];
    const loads: Loads = (test) => new Map(test === "other.test.ts" ? [] : [["core/x.ts", 2]]);
    const order = new TestOrder(tests, loads, {
      enters: (test) => test !== "blind.test.ts",
      ms: (test) => (test === "far.test.ts" ? 4000 : 2000),
    });
    const change = { file: "core/x.ts" };
    expect(order.testsFor(change)).toEqual(["core/x.test.ts", "quick.test.ts", "far.test.ts"]);
    for (let nth = 0; nth < 10; nth++) {
      order.learn("far.test.ts", true);
      order.learn("quick.test.ts", false);
    }
    expect(order.testsFor(change)).toEqual(["core/x.test.ts", "far.test.ts", "quick.test.ts"]);
  });
});
