import { fromByteText, toByteText, trimByteEnd, trimBytes } from "./byte-text.ts";
import { type Hunk, PatchError } from "./parse-patch.ts";

/** A line of a file, and its line end: LF, CR LF, or the empty string for a last line without a line end. */
interface FileLine {
  readonly text: string;
  readonly end: string;
}

/** A range of lines of a file, and the edits in it. */
export interface Replacement {
  /** Index of the first line of the range, from 0. */
  readonly at: number;
  readonly edits: readonly LineEdit[];
}

/** A line that a hunk keeps, removes or adds. */
export interface LineEdit {
  readonly kind: "keep" | "remove" | "add";
  readonly line: string;
}

/** The result of applying hunks to a file. */
export interface Patched {
  /** The lines of the file before and after, with their line ends. */
  readonly before: readonly string[];
  readonly afterLines: readonly string[];
  readonly after: string;
  readonly replacements: readonly Replacement[];
}

const BOM = "\u00ef\u00bb\u00bf";

/**
 * Applies the hunks of one file in order. `content` is a byte string (see byte-text.ts). Lines that a hunk keeps are
 * not changed, even if they matched only without regard to spaces. Throws a PatchError that names the hunk and the
 * line that do not match.
 */
export function applyHunks(path: string, content: string, hunks: readonly Hunk[]): Patched {
  const bom = content.startsWith(BOM) ? BOM : "";
  const lines = fileLines(content.slice(bom.length));
  const texts = new FormedLines(lines.map(({ text }) => text));
  const usualEnd = usualEndOf(lines);
  const replacements: Replacement[] = [];
  const after: FileLine[] = [];
  let from = 0;
  for (const [nth, hunk] of hunks.entries()) {
    const { at, old } = findHunk(path, texts, from, hunk, nth);
    for (; from < at; from++) after.push(lines[from]!);
    const edits: LineEdit[] = [];
    let removedEnd: string | undefined;
    for (const { kind, text } of hunk.edits) {
      if (kind === "add") {
        const line = { text: toByteText(text), end: removedEnd || lines[from]?.end || usualEnd };
        after.push(line);
        edits.push({ kind, line: line.text + line.end });
        continue;
      }
      // The hunk's last line represents the end of the file. No line of the file corresponds to it.
      if (from === at + old) continue;
      const line = lines[from++]!;
      edits.push({ kind, line: line.text + line.end });
      if (kind === "keep") after.push(line);
      removedEnd = kind === "remove" ? line.end : undefined;
    }
    replacements.push({ at, edits });
  }
  for (; from < lines.length; from++) after.push(lines[from]!);
  const result = joined(after, lines.at(-1)?.end === "", usualEnd);
  return {
    before: lines.map(({ text, end }) => text + end),
    after: bom + result,
    afterLines: fileLines(result).map(({ text, end }) => text + end),
    replacements,
  };
}

function fileLines(content: string): readonly FileLine[] {
  const lines: FileLine[] = [];
  for (let from = 0; from < content.length; ) {
    const lf = content.indexOf("\n", from);
    if (lf < 0) {
      lines.push({ text: content.slice(from), end: "" });
      break;
    }
    const cr = lf > from && content[lf - 1] === "\r";
    lines.push({ text: content.slice(from, cr ? lf - 1 : lf), end: cr ? "\r\n" : "\n" });
    from = lf + 1;
  }
  return lines;
}

/** The most frequent line end. */
function usualEndOf(lines: readonly FileLine[]): string {
  const windows = lines.filter(({ end }) => end === "\r\n").length;
  return windows > lines.filter(({ end }) => end === "\n").length ? "\r\n" : "\n";
}

/** Joins the lines. Each line gets a line end. The last line gets none if the file ended without one. */
function joined(lines: readonly FileLine[], open: boolean, usualEnd: string): string {
  return lines
    .map(({ text, end }, at) => {
      if (at < lines.length - 1) return text + (end || usualEnd);
      return open ? text : text + (end || usualEnd);
    })
    .join("");
}

/** The forms in which lines are compared, in order: exactly, without trailing spaces, without surrounding spaces. */
const FORMS: readonly ((line: string) => string)[] = [(line) => line, trimByteEnd, trimBytes];

/** The lines of a file, in each form in which they are compared. */
class FormedLines {
  readonly lines: readonly string[];
  readonly #formed = new Map<(line: string) => string, readonly string[]>();

  constructor(lines: readonly string[]) {
    this.lines = lines;
  }

  in(form: (line: string) => string): readonly string[] {
    const known = this.#formed.get(form);
    if (known !== undefined) return known;
    const formed = this.lines.map(form);
    this.#formed.set(form, formed);
    return formed;
  }
}

interface HunkPosition {
  readonly at: number;
  /** Number of lines of the file that the hunk covers. */
  readonly old: number;
}

function findHunk(path: string, texts: FormedLines, from: number, hunk: Hunk, nth: number): HunkPosition {
  const start = behindAnchors(path, texts, from, hunk, nth);
  const old = hunk.edits.filter(({ kind }) => kind !== "add").map(({ text }) => toByteText(text));
  // A hunk that only adds lines goes after its anchor; without an anchor, to the end of the file.
  if (old.length === 0)
    return { at: hunk.anchors.length > 0 && !hunk.atEnd ? start : texts.lines.length, old: 0 };
  const found = find(texts, old, start, hunk.atEnd);
  if (found !== undefined) return { at: found, old: old.length };
  // Models often write the last line's end as an extra empty line.
  if (old.length > 1 && old.at(-1) === "") {
    const shorter = find(texts, old.slice(0, -1), start, hunk.atEnd);
    if (shorter !== undefined) return { at: shorter, old: old.length - 1 };
  }
  throw mismatch(path, texts, old, start, hunk, nth);
}

function behindAnchors(
  path: string,
  texts: FormedLines,
  from: number,
  { anchors, patchLine }: Hunk,
  nth: number,
): number {
  let start = from;
  for (const anchor of anchors) {
    const found = find(texts, [toByteText(anchor)], start, false);
    if (found === undefined)
      throw new PatchError(
        `Hunk ${nth + 1} of ${path} (line ${patchLine} of the patch) does not fit: no line from ${start + 1} on is ${JSON.stringify(anchor)}.`,
      );
    start = found + 1;
  }
  return start;
}

function find(
  texts: FormedLines,
  wanted: readonly string[],
  from: number,
  atEnd: boolean,
): number | undefined {
  const last = texts.lines.length - wanted.length;
  for (const form of FORMS) {
    const [lines, sought] = [texts.in(form), wanted.map(form)];
    if (atEnd && last >= from && sought.every((line, nth) => line === lines[last + nth])) return last;
    const { at, length } = longestMatch(lines, sought, from);
    if (length === sought.length) return at;
  }
  return undefined;
}

/**
 * The first position from which the most of the wanted lines follow, and how many these are. By the algorithm of Knuth,
 * Morris and Pratt: a file and a hunk of thousands of equal lines must not take minutes.
 */
function longestMatch(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
): { readonly at: number; readonly length: number } {
  /** For each number of matched lines, how many of them match the beginning again. */
  const again = [0, 0];
  for (let nth = 1, length = 0; nth < wanted.length; nth++) {
    while (length > 0 && wanted[nth] !== wanted[length]) length = again[length]!;
    if (wanted[nth] === wanted[length]) length++;
    again[nth + 1] = length;
  }
  let best = { at: from, length: 0 };
  for (let at = from, length = 0; at < lines.length && best.length < wanted.length; at++) {
    while (length > 0 && lines[at] !== wanted[length]) length = again[length]!;
    if (lines[at] === wanted[length]) length++;
    if (length > best.length) best = { at: at + 1 - length, length };
  }
  return best;
}

/** Describes the difference at the position where the hunk matches the most lines. */
function mismatch(
  path: string,
  texts: FormedLines,
  wanted: readonly string[],
  from: number,
  { patchLine }: Hunk,
  nth: number,
): PatchError {
  const { at, length } = longestMatch(texts.in(trimBytes), wanted.map(trimBytes), from);
  const line = at + length;
  const found = texts.lines[line];
  const stands = found === undefined ? "the file ends" : `there is ${shown(found)}`;
  return new PatchError(
    `Hunk ${nth + 1} of ${path} (line ${patchLine} of the patch) does not fit: at line ${line + 1} it expects ${shown(wanted[length]!)}, and ${stands}. Read the file again and make the patch from what is in it.`,
  );
}

function shown(line: string): string {
  return JSON.stringify(fromByteText(line).slice(0, 200));
}
