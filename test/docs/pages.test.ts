// What holds for every page: links lead somewhere, and paths exist.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/markdown.ts";

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "bench/README.md",
  "examples/README.md",
  "test/simulation/README.md",
  ...(await readdir(join(ROOT, "docs"))).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`),
];
/** Paths in the docs may begin here. */
const BASES = ["", "packages/host/src", "packages/protocol/src", "packages/rap/src"];

/** A heading's anchor, as code hosts make it. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}

const prose = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, "");
const read = (page: string) => readFile(join(ROOT, page), "utf8");

describe.each(PAGES)("%s", (page) => {
  it("[DOCS-4] has links that lead to a file and a heading", async () => {
    const broken: string[] = [];
    for (const [, target] of prose(await read(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target!)) continue;
      const [path, heading] = target!.split("#");
      const file = path === "" ? page : join(dirname(page), path!);
      if (!existsSync(join(ROOT, file))) broken.push(target!);
      else if (heading !== undefined) {
        const headings = [...(await read(file)).matchAll(/^#+ (.*)$/gm)].map(([, text]) => anchor(text!));
        if (!headings.includes(heading)) broken.push(target!);
      }
    }
    expect(broken).toEqual([]);
  });

  it("[DOCS-4] names files that exist, or that it asks the reader to create", async () => {
    const text = await read(page);
    const created = [
      ...[...text.matchAll(/^\/\/ (\S+\.ts)$/gm)].map(([, path]) => path!),
      ...[...text.matchAll(/save (?:it|this) as `(\S+)`/g)].map(([, path]) => path!),
    ];
    const missing = [...prose(text).matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|mjs|md|json))`/g)]
      .map(([, path]) => path!)
      // A name in capitals stands for another one.
      .filter((path) => !created.includes(path) && !/\b[A-Z]{2,}\./.test(path))
      .filter((path) => ![...BASES, dirname(page)].some((base) => existsSync(join(ROOT, base, path))));
    expect(missing).toEqual([]);
  });
});
