// The table of docs/seeds.md names a test that exists for every statement, and items have the fields that a seed gives them.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { nodeOf, type TaggedNode, variantOf } from "../../packages/protocol/src/schema-language.ts";
import { ThreadItem } from "../../packages/protocol/src/types/item.ts";

const root = join(import.meta.dirname, "../..");

interface Row {
  readonly says: string;
  readonly proof: string;
}

/** The rows of all tables, and how many tables there are. */
function read(page: string): { readonly rows: readonly Row[]; readonly tables: number } {
  const cells = page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
  const isHead = ([section]: readonly string[]): boolean => section === "section" || section === "---";
  return {
    rows: cells.filter((row) => !isHead(row)).map(([, says = "", proof = ""]) => ({ says, proof })),
    tables: cells.filter(([section]) => section === "section").length,
  };
}

/** What is wrong with a row's proof; undefined if each test that it names is there. */
function fault({ proof }: Row, textOf: (path: string) => string | undefined): string | undefined {
  const named = proof.split(", ");
  for (const one of named) {
    const [, path, id] = /^`([\w./-]+\.test\.ts)` \[([A-Z]+-\d+)\]$/.exec(one) ?? [];
    if (path === undefined || id === undefined) return `names no test: ${one}`;
    const text = textOf(path);
    if (text === undefined) return `there is no ${path}`;
    const titles = [...text.matchAll(/["'`]((?:\[[A-Z]+-\d+\] )+)/g)].map(([, ids]) => ids!);
    if (!titles.some((ids) => ids.includes(`[${id}]`))) return `${path} has no test for ${id}`;
  }
  return undefined;
}

function textOf(path: string): string | undefined {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

it("[SEED-10] proves each statement of the seeds by an existing test", () => {
  const { rows, tables } = read(readFileSync(join(root, "docs/seeds.md"), "utf8"));
  expect(tables).toBe(3);
  expect(rows.length).toBeGreaterThan(100);
  const wrong = rows.flatMap((row) => {
    const why = fault(row, textOf);
    return why === undefined ? [] : [`${row.says}: ${why}`];
  });
  expect(wrong).toEqual([]);
  expect(rows.filter(({ says }) => says.length < 20)).toEqual([]);
});

it("finds a row whose test does not exist", () => {
  const text = 'it("[SEED-9] [SEED-10] is", () => {});';
  const faultOf = (proof: string) =>
    fault({ says: "", proof }, (path) => (path === "a.test.ts" ? text : undefined));
  expect(faultOf("`a.test.ts` [SEED-10], `a.test.ts` [SEED-9]")).toBeUndefined();
  expect(faultOf("`a.test.ts` [SEED-9], `b.test.ts` [SEED-9]")).toBe("there is no b.test.ts");
  expect(faultOf("`a.test.ts` [SEED-8]")).toBe("a.test.ts has no test for SEED-8");
  expect(faultOf("by looking")).toBe("names no test: by looking");
  expect(faultOf("")).toBe("names no test: ");
});

/** As the third seed lists them; its `collabToolCall` has the schema's name, and the fields that both have. */
const FIELDS: Readonly<Record<string, string>> = {
  commandExecution: "id command cwd status commandActions aggregatedOutput exitCode durationMs",
  fileChange: "id changes status",
  mcpToolCall: "id server tool status arguments result error",
  dynamicToolCall: "id tool arguments status contentItems success durationMs",
  collabAgentToolCall: "id tool status senderThreadId prompt receiverThreadIds agentsStates",
  webSearch: "id query action",
  imageView: "id path",
};

it.each(Object.entries(FIELDS))("[SEED-9] gives %s the fields of the documentation", (type, fields) => {
  const [shape] = variantOf(nodeOf(ThreadItem) as TaggedNode, type)!;
  expect(shape!.map(({ key }) => key)).toEqual(expect.arrayContaining(fields.split(" ")));
});
