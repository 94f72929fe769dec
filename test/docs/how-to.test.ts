// Follows the how-to pages in a copy of the tree: what they add passes the checks and their own scenarios.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { blocksIn, follow, ROOT } from "../support/markdown.ts";
import { copyOfProject } from "../support/tree-copy.ts";

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
  const blocks = (await Promise.all(PAGES.map(blocksIn))).flat();
  const commands = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
  return [...new Set(commands.flatMap((text) => text.match(/\btest\/\S+/g) ?? []))];
}

describe("what the how-to pages add", () => {
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
    const chosen = process.env.BOBBIN_FULL === "1" ? files : [...own, "test/conformance/coverage.test.ts"];
    await run(process.execPath, "scripts/prepare.mjs", "--no-install");
    await run(process.execPath, "node_modules/vitest/vitest.mjs", "run", "--maxWorkers=1", ...chosen);
  });

  it.runIf(process.env.BOBBIN_FULL === "1")("[DOCS-1] passes every check", async () => {
    await run(process.execPath, "scripts/check.mjs");
  });
});
