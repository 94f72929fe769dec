// Every fenced block of the docs is tested: test/docs/snippet-list.ts says how. Blocks that need no program are here.
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileKeyWarnings } from "../../packages/host/src/config/keys/key-warnings.ts";
import { loadConfig } from "../../packages/host/src/config/load-config.ts";
import { problemOf } from "../../packages/host/src/core/record-problem.ts";
import { wholeJson } from "../support/elided-json.ts";
import { ROOT, take } from "../support/markdown.ts";
import { BY_TEST, LANGUAGES, listed, NOT_RUN, notRunBy, pages, snippets, usual } from "./snippet-list.ts";

describe("every block", () => {
  it("[DOCS-11] of every page is run by exactly one test, or listed with the reason why it is not", async () => {
    const all = await snippets();
    expect(all.length).toBeGreaterThan(100);
    const wrong = all.flatMap((one) => {
      const { by, reason } = listed(one);
      const count = by.length + (reason === undefined ? 0 : 1);
      if (count === 1) return [];
      const what = count === 0 ? "has no test" : `is listed for ${[...by, reason].join(" and ")}`;
      return [`${one.at}: a block of language "${one.language}" ${what}`];
    });
    expect(wrong, "see test/docs/snippet-list.ts").toEqual([]);
  });

  it("[DOCS-11] that the list names exists, and so do the pages and test files", async () => {
    const all = await snippets();
    const known = await pages();
    const stale: string[] = [];
    for (const [file, of] of Object.entries(BY_TEST)) {
      if (!existsSync(join(ROOT, file))) stale.push(file);
      for (const [page, parts] of Object.entries(of)) {
        if (!known.includes(page)) stale.push(page);
        for (const part of Array.isArray(parts) ? parts : [""])
          if (!all.some((one) => one.page === page && one.text.includes(part)))
            stale.push(`${page}: ${part}`);
      }
    }
    for (const [page, parts] of Object.entries(NOT_RUN))
      for (const part of Object.keys(parts))
        if (!all.some((one) => one.page === page && one.text.includes(part))) stale.push(`${page}: ${part}`);
    for (const [language, file] of Object.entries(LANGUAGES))
      if (!existsSync(join(ROOT, file))) stale.push(`${language}: ${file}`);
    expect(stale).toEqual([]);
  });
});

describe("blocks that need no program", () => {
  it("[DOCS-11] of text are drawings and lists, and have nothing that could be run", async () => {
    for (const one of await usual("text")) {
      const lines = one.text
        .split("\n")
        .filter((line) => /^\s*(\$|>|<) |^\s*[{[]"|^\s*(npx|npm|bobbin|bin\/)/.test(line));
      expect(lines, one.at).toEqual([]);
      take(one.page, one);
    }
  });

  it("[DOCS-11] of TOML are configurations that are accepted without a warning", async () => {
    // Also those of pages that have a test of their own.
    for (const one of (await snippets()).filter(({ language }) => language === "toml")) {
      // Keys that config.toml does not have are those of requirements.toml.
      const name = /^\[(experimental_network|rules)\]|^identity =|\.identity\.|^allow_managed/m.test(one.text)
        ? "requirements.toml"
        : "config.toml";
      const readText = async (path: string) => (basename(path) === name ? one.text : undefined);
      const { warnings } = await loadConfig({ readText }, "/home/of/bobbin", []);
      const unknown = name === "config.toml" ? fileKeyWarnings({ file: one.at, text: one.text }) : [];
      expect([...warnings, ...unknown.map(({ message }) => message)], one.at).toEqual([]);
      take(one.page, one);
    }
  });

  it("[DOCS-11] of JSON lines are commits that a journal may have", async () => {
    for (const one of await usual("jsonl")) {
      for (const line of one.text.trimEnd().split("\n")) {
        const { value, isWhole } = wholeJson(line);
        const { records, ...rest } = value as { readonly records: readonly object[] };
        expect(rest, one.at).toEqual({
          seq: expect.any(Number),
          epoch: expect.any(Number),
          prev: expect.any(Number),
        });
        for (const record of records) {
          // A record that is shown in part has the fields of its type that are shown.
          const problem = isWhole ? problemOf(record) : problemOf(record)?.replace(/^.*: missing field$/, "");
          expect(problem || undefined, `${one.at}: ${JSON.stringify(record)}`).toBeUndefined();
        }
      }
      take(one.page, one);
    }
  });

  it("[DOCS-11] are all of the blocks that the list gives to this file", async () => {
    expect(await notRunBy("test/docs/snippets.test.ts")).toEqual([]);
  });
});
