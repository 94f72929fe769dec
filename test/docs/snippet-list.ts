// How each fenced block of the docs is tested. A block is run by the test file that LANGUAGES names for its language,
// unless BY_TEST gives it to another one, or NOT_RUN says why it is not run. A block that is in none of them fails
// snippets.test.ts.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Block, blocksIn, isTaken, ROOT } from "../support/markdown.ts";

/** The languages whose blocks are run in one way, and the test file that does it. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  // Drawings and lists of files: they must have nothing in them that could be run.
  text: "test/docs/snippets.test.ts",
  // Loaded as config.toml, requirements.toml or the file that the first line names, without a warning.
  toml: "test/docs/snippets.test.ts",
  // Commits of a journal, checked as those on disk are.
  jsonl: "test/docs/snippets.test.ts",
  // Messages to (>) and from (<) a host, played with a real one.
  frames: "test/docs/snippets-on-a-host.test.ts",
  // A request to a real host.
  http: "test/docs/snippets-on-a-host.test.ts",
  // Lines that a real host logs.
  log: "test/docs/snippets-on-a-host.test.ts",
  // Commands ($) with what they print.
  console: "test/docs/transcripts.test.ts",
  // Command lines.
  sh: "test/docs/shell-lines.test.ts",
};

const ALL = "all";

/** Blocks that a test of their own runs: by test file and page, each with a text that only this block of the page has. */
export const BY_TEST: Readonly<Record<string, Readonly<Record<string, typeof ALL | readonly string[]>>>> = {
  "test/docs/readme.test.ts": {
    "README.md": ["OPENAI_API_KEY=", "connectWebSocket", "--listen ws://0.0.0.0:4545"],
  },
  "test/packages/tarballs.test.ts": {
    "packages/client/README.md": ALL,
    "packages/host/README.md": ALL,
    "packages/protocol/README.md": ALL,
    "packages/rap/README.md": ["createToolServer"],
    "docs/deploy.md": ["npm install -g bobbin\n"],
  },
  "test/docs/commands.test.ts": { "docs/commands.md": ["prefix_rule", "$ "] },
  "test/docs/deploy.test.ts": {
    "docs/deploy.md": ["token capability", "ExecStart=", "FROM ", "proxy_pass", "tar -czf", "scrape_configs"],
  },
  "test/docs/hooks.test.ts": { "docs/hooks.md": ['"PreToolUse"'] },
  "test/docs/how-to.test.ts": {
    "docs/how-to-add-a-method.md": ALL,
    "docs/how-to-add-a-tool.md": ALL,
  },
  "test/docs/quick-starts.test.ts": {
    "docs/quick-start-bot.md": ALL,
    "docs/quick-start-chat-page.md": ALL,
    "docs/quick-start-mcp.md": ALL,
    "docs/quick-start-tool-server.md": ALL,
  },
  "test/docs/prompts.test.ts": { "docs/prompts.md": ["argument-hint"] },
  "test/docs/tool-servers.test.ts": { "docs/tool-servers.md": ALL },
};

/** Blocks that are not run, each with a text of it and the reason. */
export const NOT_RUN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "docs/deploy.md": { "npm install -g bobbin@latest": "changes the machine and its services" },
};

/** The pages whose blocks have to be tested. */
export async function pages(): Promise<readonly string[]> {
  const below = async (folder: string, ending: string) =>
    (await readdir(join(ROOT, folder), { recursive: true }))
      .filter((name) => name.endsWith(ending) && !name.includes("node_modules"))
      .map((name) => `${folder}/${name}`);
  return [
    "README.md",
    "CONTRIBUTING.md",
    ...(await below("packages", "README.md")),
    ...(await below("docs", ".md")),
    ...(await below("bench", ".md")),
    ...(await below("examples", ".md")),
    ...(await below("test", ".md")),
  ].sort();
}

export interface Snippet extends Block {
  readonly page: string;
  /** `page:line`. */
  readonly at: string;
}

export async function snippets(): Promise<readonly Snippet[]> {
  const found = (await pages()).map(async (page) =>
    (await blocksIn(page)).map((block) => ({ ...block, page, at: `${page}:${block.line}` })),
  );
  return (await Promise.all(found)).flat();
}

/** The test files that run a snippet according to the lists, and the reason if it is not run. */
export function listed({ page, text, language }: Snippet): { by: readonly string[]; reason?: string } {
  const by = Object.entries(BY_TEST)
    .filter(([, of]) => of[page] === ALL || (of[page] ?? []).some((one) => one !== ALL && text.includes(one)))
    .map(([file]) => file);
  const [reason] = Object.entries(NOT_RUN[page] ?? {}).flatMap(([part, why]) =>
    text.includes(part) ? [why] : [],
  );
  if (reason !== undefined) return { by, reason };
  const usual = LANGUAGES[language];
  return by.length === 0 && usual !== undefined ? { by: [usual] } : { by };
}

/** The snippets of some languages that the usual test of their language runs. */
export async function usual(...languages: readonly string[]): Promise<readonly Snippet[]> {
  return (await snippets()).filter(
    (one) => languages.includes(one.language) && listed(one).by.includes(LANGUAGES[one.language]!),
  );
}

/** The snippets that the list gives to a test file, and that this file has not run: for the end of the file. */
export async function notRunBy(file: string): Promise<readonly string[]> {
  const given = (await snippets()).filter((one) => listed(one).by.includes(file));
  if (given.length === 0) throw new Error(`test/docs/snippet-list.ts gives nothing to ${file}`);
  return given.filter((one) => !isTaken(one.page, one)).map(({ at }) => at);
}
