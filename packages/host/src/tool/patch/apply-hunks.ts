import { fromByteText, toByteText, trimByteEnd, trimBytes } from "./byte-text.ts";
import { type Hunk, PatchError } from "./parse.ts";

/** A line of a file, with what ends it: `\n`, `\r\n`, or nothing for a last line without an end. */
interface FileLine {
  readonly text: string;
  readonly end: string;
}

/** A stretch of a file's lines and what takes its place. */
export interface Replacement {
  /** Of the first line that it is about, from 0. */
  readonly at: number;
  readonly edits: readonly LineEdit[];
}

/** A line as it is in the file before or after. */
export interface LineEdit {
  readonly kind: "keep" | "remove" | "add";
  readonly line: string;
}

/** What hunks make of a file. */
export interface Patched {
  readonly before: readonly string[];
  readonly after: string;
  readonly replacements: readonly Replacement[];
}

const BOM = "\u00ef\u00bb\u00bf";

/**
 * Applies the hunks of one file, given as a byte string, in their order. What a hunk keeps stays as it is in the file,
 * also where it was found without regard to spaces. Throws a PatchError that says which hunk does not fit, and where.
 */
export function applyHunks(path: string, content: string, hunks: readonly Hunk[]): Patched {
  const bom = content.startsWith(BOM) ? BOM : "";
  const lines = fileLines(content.slice(bom.length));
  const texts = lines.map(({ text }) => text);
  const usualEnd = usualEndOf(lines);
  const replacements: Replacement[] = [];
  const after: FileLine[] = [];
  let from = 0;
  for (const [nth, hunk] of hunks.entries()) {
    const { at, old } = place(path, texts, from, hunk, nth);
    for (; from < at; from++) after.push(lines[from]!);
    const edits: LineEdit[] = [];
    let gone: string | undefined;
    for (const { kind, text } of hunk.edits) {
      if (kind === "add") {
        const line = { text: toByteText(text), end: gone || lines[from]?.end || usualEnd };
        after.push(line);
        edits.push({ kind, line: line.text + line.end });
        continue;
      }
      // What stands for a file's missing last line is not there.
      if (from === at + old) continue;
      const line = lines[from++]!;
      edits.push({ kind, line: line.text + line.end });
      if (kind === "keep") after.push(line);
      gone = kind === "remove" ? line.end : undefined;
    }
    replacements.push({ at, edits });
  }
  for (; from < lines.length; from++) after.push(lines[from]!);
  return {
    before: lines.map(({ text, end }) => text + end),
    after: bom + joined(after, lines.at(-1)?.end === "", usualEnd),
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

/** The line end that most lines have. */
function usualEndOf(lines: readonly FileLine[]): string {
  const windows = lines.filter(({ end }) => end === "\r\n").length;
  return windows > lines.filter(({ end }) => end === "\n").length ? "\r\n" : "\n";
}

/** Every line but the last has an end; the last one has one unless the file had none before. */
function joined(lines: readonly FileLine[], open: boolean, usualEnd: string): string {
  return lines
    .map(({ text, end }, at) => {
      if (at < lines.length - 1) return text + (end || usualEnd);
      return open ? text : text + (end || usualEnd);
    })
    .join("");
}

type Same = (line: string, wanted: string) => boolean;

/** How lines are compared: as they are, then without spaces at the end, then without spaces around. */
const COMPARISONS: readonly Same[] = [
  (line, wanted) => line === wanted,
  (line, wanted) => trimByteEnd(line) === trimByteEnd(wanted),
  (line, wanted) => trimBytes(line) === trimBytes(wanted),
];

interface Place {
  readonly at: number;
  /** How many lines of the file it is about. */
  readonly old: number;
}

function place(path: string, texts: readonly string[], from: number, hunk: Hunk, nth: number): Place {
  const start = behindAnchors(path, texts, from, hunk, nth);
  const old = hunk.edits.filter(({ kind }) => kind !== "add").map(({ text }) => toByteText(text));
  // Without lines that say where, new lines go behind the anchor, else to the end.
  if (old.length === 0) return { at: hunk.anchors.length > 0 && !hunk.atEnd ? start : texts.length, old: 0 };
  const found = find(texts, old, start, hunk.atEnd);
  if (found !== undefined) return { at: found, old: old.length };
  // Models count the end of the last line as a line.
  if (old.length > 1 && old.at(-1) === "") {
    const shorter = find(texts, old.slice(0, -1), start, hunk.atEnd);
    if (shorter !== undefined) return { at: shorter, old: old.length - 1 };
  }
  throw misfit(path, texts, old, start, hunk, nth);
}

function behindAnchors(
  path: string,
  texts: readonly string[],
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
  texts: readonly string[],
  wanted: readonly string[],
  from: number,
  atEnd: boolean,
): number | undefined {
  const last = texts.length - wanted.length;
  for (const same of COMPARISONS) {
    const fits = (at: number): boolean => wanted.every((line, nth) => same(texts[at + nth]!, line));
    if (atEnd && last >= from && fits(last)) return last;
    for (let at = from; at <= last; at++) if (fits(at)) return at;
  }
  return undefined;
}

/** Says how the file differs where the hunk comes nearest to fitting. */
function misfit(
  path: string,
  texts: readonly string[],
  wanted: readonly string[],
  from: number,
  { patchLine }: Hunk,
  nth: number,
): PatchError {
  const same = COMPARISONS[2]!;
  let best = { at: from, length: -1 };
  for (let at = from; at < texts.length; at++) {
    let length = 0;
    while (length < wanted.length && at + length < texts.length && same(texts[at + length]!, wanted[length]!))
      length++;
    if (length > best.length) best = { at, length };
  }
  const line = best.at + Math.max(best.length, 0);
  const stands = texts[line] === undefined ? "the file ends" : `there is ${shown(texts[line])}`;
  return new PatchError(
    `Hunk ${nth + 1} of ${path} (line ${patchLine} of the patch) does not fit: at line ${line + 1} it expects ${shown(wanted[Math.max(best.length, 0)]!)}, and ${stands}. Read the file again and make the patch from what is in it.`,
  );
}

function shown(line: string): string {
  return JSON.stringify(fromByteText(line).slice(0, 200));
}
