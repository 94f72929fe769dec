// Follows the how-to pages in a copy of the tree: what they add passes the checks and their own scenarios.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { LONG } from "../support/long-form.ts";
import { blocksIn, follow, ROOT, take } from "../support/markdown.ts";
import { copyOfProject } from "../support/tree-copy.ts";
import { notRunBy } from "./snippet-list.ts";

const PAGES = ["docs/how-to-add-a-method.md", "docs/how-to-add-a-tool.md"];

let root: string;
const touched: string[] = [];

beforeAll(async () => {
  root = await copyOfProject();
  // Both in one copy: one build and one check for both.
  for (const page of PAGES) touched.push(...(await follow(page, root)));
});

/** Runs a program in the copy; rejects with its output if it fails. */
async function run(program: string, ...args: readonly string[]): Promise<void> {
  const { BOBBIN_BIN: _, ...env } = process.env;
  await promisify(execFile)(program, args, { cwd: root, env, maxBuffer: 2 ** 26 }).catch((cause) => {
    throw new Error(`${[program, ...args].join(" ")}:\n${cause.stdout}${cause.stderr}`);
  });
}

const tool = (name: string, ...args: readonly string[]) =>
  run(join(root, "node_modules/.bin", name), ...args);

/** The test files that the pages tell their readers to run. */
async function named(): Promise<readonly string[]> {
  const commands: string[] = [];
  for (const page of PAGES) {
    for (const block of await blocksIn(page)) {
      if (block.language !== "sh") continue;
      take(page, block);
      commands.push(block.text);
    }
  }
  return [...new Set(commands.flatMap((text) => text.match(/\btest\/\S+/g) ?? []))];
}

describe("the code of the how-to pages", () => {
  it("[DOCS-1] is formatted and linted", async () => {
    expect(touched.length).toBeGreaterThan(8);
    await tool("biome", "check", ...touched.filter((path) => path.endsWith(".ts")));
  });

  it("[DOCS-1] has the right types", async () => {
    await tool("tsc", "--noEmit");
  });

  it("[DOCS-1] passes the scenarios that the pages name", async () => {
    const files = await named();
    expect(files).toContain("test/conformance");
    const own = files.filter((path) => path.endsWith(".test.ts") && !existsSync(join(ROOT, path)));
    expect(own).toHaveLength(PAGES.length);
    // The others take long, and run in this tree anyway.
    const chosen = LONG ? files : [...own, "test/conformance/coverage.test.ts"];
    await run(process.execPath, "scripts/prepare.mjs", "--no-install");
    await run(process.execPath, "node_modules/vitest/vitest.mjs", "run", "--maxWorkers=1", ...chosen);
  });

  it("[DOCS-11] is all that the list gives to this file", async () => {
    expect(await notRunBy("test/docs/how-to.test.ts")).toEqual([]);
  });

  it.runIf(LONG)("[DOCS-1] passes every check", async () => {
    await run(process.execPath, "scripts/check.mjs");
  });
});
