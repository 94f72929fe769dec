// The prompt of docs/prompts.md becomes what the page says.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type PromptReader, promptCommandInput } from "@bobbin/client";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { blocksIn, blockWith, ROOT } from "../support/markdown.ts";
import { notRunBy } from "./snippet-list.ts";

const PAGE = "docs/prompts.md";

it("[DOCS-11] has a first prompt that is expanded as it says", async () => {
  const home = await freshFolder();
  await mkdir(join(home, "prompts"));
  await writeFile(join(home, "prompts", "ticket.md"), await blockWith(PAGE, "markdown", "argument-hint"));
  const { client } = await stdioHost({ home, capabilities: { experimentalApi: true } });
  const typed = (await blocksIn(PAGE)).find(({ text }) => text.startsWith("/prompts:"))!.text;
  const reader: PromptReader = { request: (method, params) => client.call(method, params) };
  const [sent] = (await promptCommandInput(reader, typed))!;
  const text = sent?.type === "text" ? sent.text : "";
  expect(text).toContain("Read ticket 7");
  expect(await readFile(join(ROOT, PAGE), "utf8")).toContain(`The model gets "${text}".`);
});

it("[DOCS-11] runs all that the list gives to this file", async () => {
  expect(await notRunBy("test/docs/prompts.test.ts")).toEqual([]);
});
