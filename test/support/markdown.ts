import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";

export const ROOT = join(import.meta.dirname, "../..");

/** A fenced block of a page. */
export interface Block {
  /** The text after the opening fence; empty if there is none. */
  readonly language: string;
  readonly text: string;
  /** The number of the line with the opening fence. */
  readonly line: number;
}

/** The fenced blocks of a page, in their order. */
export async function blocksIn(page: string): Promise<readonly Block[]> {
  const lines = (await readFile(join(ROOT, page), "utf8")).split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (!/^\s*(```|~~~)/.test(lines[at]!)) continue;
    const language = /^```(\w*)$/.exec(lines[at]!)?.[1];
    if (language === undefined)
      throw new Error(`${page}:${at + 1}: this fence is not three backquotes and a word`);
    const end = lines.indexOf("```", at + 1);
    if (end < 0) throw new Error(`${page}:${at + 1}: the block has no end`);
    blocks.push({ language, text: `${lines.slice(at + 1, end).join("\n")}\n`, line: at + 1 });
    at = end;
  }
  return blocks;
}

/** Blocks that tests of this file have run, as `page:line`. */
const taken = new Set<string>();
atFileEnd(() => taken.clear());

/** Marks a block as run by this test file. The list in test/docs/snippet-list.ts is compared with these marks. */
export function take(page: string, { line }: Pick<Block, "line">): void {
  taken.add(`${page}:${line}`);
}

export function isTaken(page: string, { line }: Pick<Block, "line">): boolean {
  return taken.has(`${page}:${line}`);
}

/** The only block of a page in this language that contains a text. The caller runs it. */
export async function blockWith(page: string, language: string, text: string): Promise<string> {
  const found = (await blocksIn(page)).filter((one) => one.language === language && one.text.includes(text));
  if (found.length !== 1) throw new Error(`${page} has ${found.length} blocks with ${text}`);
  take(page, found[0]!);
  return found[0]!.text;
}

/**
 * Does what a page tells its reader to do: applies its diffs, and writes the files whose blocks begin with a comment
 * that names them. Returns the paths of all changed files.
 */
export async function follow(page: string, root: string): Promise<readonly string[]> {
  const touched: string[] = [];
  for (const { language, text, line } of await blocksIn(page)) {
    const at = `${page}:${line}`;
    const created = language === "ts" ? /^\/\/ (\S+\.ts)\n/.exec(text) : null;
    if (created !== null || language === "diff") take(page, { line });
    if (created !== null) {
      await writeFile(join(root, created[1]!), text.slice(created[0].length));
      touched.push(created[1]!);
    }
    if (language !== "diff") continue;
    const path = /^\+\+\+ b\/(\S+)$/m.exec(text)?.[1];
    if (path === undefined) throw new Error(`${at}: the diff names no file`);
    const file = join(root, path);
    await writeFile(file, applied(await readFile(file, "utf8"), text, at));
    touched.push(path);
  }
  return touched;
}

/** Applies a diff to a file. Each hunk must match in exactly one place. */
function applied(file: string, diff: string, at: string): string {
  const hunks = diff.replace(/^--- .*\n\+\+\+ .*\n/, "").split(/^@@.*\n/m);
  return hunks.reduce((text, hunk) => {
    const lines = hunk.replace(/\n$/, "").split("\n");
    const side = (signs: string) =>
      lines.filter((line) => signs.includes(line[0] ?? " ")).map((line) => `${line.slice(1)}\n`);
    const before = side(" -").join("");
    const places = `\n${text}`.split(`\n${before}`).length - 1;
    if (before === "" || places !== 1) throw new Error(`${at}: this fits in ${places} places:\n${hunk}`);
    // A function as replacement, so that `$` has no special meaning.
    return `\n${text}`.replace(`\n${before}`, () => `\n${side(" +").join("")}`).slice(1);
  }, file);
}
