import { createHash } from "node:crypto";
import { type LineChange, lineChanges } from "./line-diff.ts";

/** The state of a file, with its content as a byte string: one character per byte. */
export interface FileState {
  readonly mode: number;
  readonly content: string;
}

/** A file before and after a change; null for a missing file. Paths are shown as they are, without `a/` and `b/`. */
export interface FileChange {
  readonly path: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
}

const CONTEXT = 3;
const NO_ID = "0".repeat(40);

/** Formats changes like `git diff --full-index`: one text per file, sorted by path, as byte strings. */
export function fileDiffs(changes: readonly FileChange[]): readonly string[] {
  return withRenames(changes.filter(isChanged))
    .sort((one, other) => compare(one.to, other.to))
    .map(diffOf);
}

function isChanged({ before, after }: FileChange): boolean {
  return before?.content !== after?.content || gitMode(before) !== gitMode(after);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

interface Pair {
  readonly from: string;
  readonly to: string;
  readonly before: FileState | null;
  readonly after: FileState | null;
  /** For a rename: the similarity in per cent. */
  readonly similarity?: number;
}

/** A removed and an added file of at least this similarity, in per cent, count as a rename. */
const MIN_SIMILARITY = 50;
/** Limit on the files in rename detection, which compares every removed file with every added one. */
const MAX_RENAMES = 30;

function withRenames(changes: readonly FileChange[]): Pair[] {
  const removed = changes.filter(({ after }) => after === null);
  const added = new Set(changes.filter(({ before }) => before === null));
  const pairs: Pair[] = [];
  const renamed = new Set<FileChange>();
  if (removed.length <= MAX_RENAMES && added.size <= MAX_RENAMES) {
    for (const old of removed) {
      let best: { readonly now: FileChange; readonly similarity: number } | undefined;
      for (const now of added) {
        const similarity = similarityOf(old.before!.content, now.after!.content);
        if (similarity >= MIN_SIMILARITY && similarity > (best?.similarity ?? 0)) best = { now, similarity };
      }
      if (best === undefined) continue;
      const { now, similarity } = best;
      added.delete(now);
      renamed.add(old).add(now);
      pairs.push({ from: old.path, to: now.path, before: old.before, after: now.after, similarity });
    }
  }
  for (const change of changes)
    if (!renamed.has(change)) pairs.push({ ...change, from: change.path, to: change.path });
  return pairs;
}

/**
 * Similarity in per cent: how much of the larger content is in both, counted in whole lines. Empty files are never
 * similar.
 */
function similarityOf(before: string, after: string): number {
  const larger = Math.max(before.length, after.length);
  if (larger === 0) return 0;
  if (before === after) return 100;
  const [old, now] = [linesOf(before), linesOf(after)];
  let common = before.length;
  for (const change of lineChanges(old, now))
    for (let nth = 0; nth < change.old; nth++) common -= old[change.at + nth]!.length;
  return Math.min(99, Math.floor((common * 100) / larger));
}

function diffOf({ from, to, before, after, similarity }: Pair): string {
  let text = `diff --git ${quoted(`a/${from}`)} ${quoted(`b/${to}`)}\n`;
  const [oldMode, newMode] = [gitMode(before), gitMode(after)];
  if (before === null) text += `new file mode ${newMode}\n`;
  else if (after === null) text += `deleted file mode ${oldMode}\n`;
  else if (oldMode !== newMode) text += `old mode ${oldMode}\nnew mode ${newMode}\n`;
  if (similarity !== undefined)
    text += `similarity index ${similarity}%\nrename from ${quoted(from)}\nrename to ${quoted(to)}\n`;
  const [old, now] = [before?.content ?? "", after?.content ?? ""];
  if (old === now && before !== null && after !== null) return text;
  text += `index ${idOf(before)}..${idOf(after)}${oldMode === newMode ? ` ${newMode}` : ""}\n`;
  if (old === now) return text;
  const oldName = before === null ? "/dev/null" : `a/${from}`;
  const newName = after === null ? "/dev/null" : `b/${to}`;
  if (isBinary(old) || isBinary(now))
    return `${text}Binary files ${quoted(oldName)} and ${quoted(newName)} differ\n`;
  return `${text}--- ${headerName(oldName)}\n+++ ${headerName(newName)}\n${hunksOf(linesOf(old), linesOf(now))}`;
}

/** The mode of a file in git, which has only two. */
function gitMode(file: FileState | null): string | undefined {
  if (file === null) return undefined;
  return (file.mode & 0o100) === 0 ? "100644" : "100755";
}

/** The git object id of a file's content. */
function idOf(file: FileState | null): string {
  if (file === null) return NO_ID;
  const bytes = Buffer.from(file.content, "latin1");
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** Whether content is binary, by git's rule. */
function isBinary(content: string): boolean {
  return content.slice(0, 8000).includes("\0");
}

function linesOf(content: string): readonly string[] {
  const lines = content.split("\n");
  const last = lines.pop()!;
  const ended = lines.map((line) => `${line}\n`);
  return last === "" ? ended : [...ended, last];
}

function hunksOf(before: readonly string[], after: readonly string[]): string {
  let text = "";
  for (const hunk of hunksFrom(lineChanges(before, after))) {
    const first = hunk[0]!;
    const last = hunk.at(-1)!;
    const lead = Math.min(CONTEXT, first.at);
    const trail = Math.min(CONTEXT, before.length - last.at - last.old);
    const [at, nowAt] = [first.at - lead, first.nowAt - lead];
    const old = last.at + last.old + trail - at;
    const now = last.nowAt + last.now + trail - nowAt;
    text += `@@ -${range(at, old)} +${range(nowAt, now)} @@\n`;
    let next = at;
    for (const change of hunk) {
      for (; next < change.at; next++) text += diffLine(" ", before[next]!);
      for (; next < change.at + change.old; next++) text += diffLine("-", before[next]!);
      for (let nth = 0; nth < change.now; nth++) text += diffLine("+", after[change.nowAt + nth]!);
    }
    for (const end = next + trail; next < end; next++) text += diffLine(" ", before[next]!);
  }
  return text;
}

/** Groups changes into hunks: changes whose context would touch share one. */
function hunksFrom(changes: readonly LineChange[]): readonly (readonly LineChange[])[] {
  const hunks: LineChange[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    if (last !== undefined && change.at - (last.at + last.old) <= 2 * CONTEXT) hunks.at(-1)!.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function range(at: number, count: number): string {
  const first = count === 0 ? at : at + 1;
  return count === 1 ? `${first}` : `${first},${count}`;
}

function diffLine(sign: string, line: string): string {
  return line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`;
}

/** A file name in a `---` or `+++` line. Git appends a tab to names with spaces. */
function headerName(name: string): string {
  const shown = quoted(name);
  return shown === name && name.includes(" ") ? `${name}\t` : shown;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\t": "\\t",
  "\r": "\\r",
  "\b": "\\b",
  "\f": "\\f",
  "\v": "\\v",
  "\x07": "\\a",
};

/** Quotes a name like git with `core.quotePath` off: only if it has control characters, quotes or backslashes. */
function quoted(name: string): string {
  const shown = Array.from(name, (char) => ESCAPES[char] ?? (isControl(char) ? octal(char) : char)).join("");
  return shown === name ? name : `"${shown}"`;
}

function isControl(char: string): boolean {
  return char < " " || char === "\u007f";
}

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
}
