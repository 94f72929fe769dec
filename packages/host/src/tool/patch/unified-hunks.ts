import type { LineEdit, Patched } from "./apply-hunks.ts";
import { fromByteText } from "./byte-text.ts";

const CONTEXT = 1;

/** What changed in a file, as the hunks of a unified diff without its header, as clients show it. */
export function unifiedHunks({ before, replacements }: Pick<Patched, "before" | "replacements">): string {
  let text = "";
  /** How many lines longer the file has become so far. */
  let grown = 0;
  for (const { at, edits } of changesOf(before, replacements)) {
    const old = edits.filter(({ kind }) => kind !== "add").length;
    const now = edits.filter(({ kind }) => kind !== "remove").length;
    text += `@@ -${range(at, old)} +${range(at + grown, now)} @@\n`;
    for (const { kind, line } of edits) text += SIGNS[kind] + withEnd(line);
    grown += now - old;
  }
  return fromByteText(text);
}

const SIGNS = { keep: " ", remove: "-", add: "+" } as const;

function range(at: number, count: number): string {
  const first = count === 0 ? at : at + 1;
  return count === 1 ? `${first}` : `${first},${count}`;
}

function withEnd(line: string): string {
  return line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`;
}

interface Change {
  readonly at: number;
  readonly edits: readonly LineEdit[];
}

/** All that changed, in pieces with `CONTEXT` lines around each; pieces that would touch are one. */
function changesOf(before: readonly string[], replacements: Patched["replacements"]): readonly Change[] {
  const all = linesOf(before, replacements);
  const changed = all.flatMap(({ kind }, at) => (kind === "keep" ? [] : [at]));
  const spans: { from: number; to: number }[] = [];
  for (const at of changed) {
    const last = spans.at(-1);
    const from = Math.max(0, at - CONTEXT);
    const to = Math.min(all.length, at + CONTEXT + 1);
    if (last !== undefined && from <= last.to) last.to = to;
    else spans.push({ from, to });
  }
  const oldBefore = prefixCounts(all);
  return spans.map(({ from, to }) => ({ at: oldBefore[from]!, edits: all.slice(from, to) }));
}

/** For each line of the whole, how many lines of the old file come before it. */
function prefixCounts(all: readonly LineEdit[]): readonly number[] {
  const counts = [0];
  for (const { kind } of all) counts.push(counts.at(-1)! + (kind === "add" ? 0 : 1));
  return counts;
}

function linesOf(before: readonly string[], replacements: Patched["replacements"]): readonly LineEdit[] {
  const all: LineEdit[] = [];
  let from = 0;
  for (const { at, edits } of replacements) {
    for (; from < at; from++) all.push({ kind: "keep", line: before[from]! });
    for (const edit of edits) all.push(edit);
    from += edits.filter(({ kind }) => kind !== "add").length;
  }
  for (; from < before.length; from++) all.push({ kind: "keep", line: before[from]! });
  return all;
}
