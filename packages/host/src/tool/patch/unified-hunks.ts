import type { LineEdit, Patched } from "./apply-hunks.ts";
import { fromByteText } from "./byte-text.ts";

const CONTEXT = 1;

/** The changes to a file as hunks of a unified diff, without file headers, for clients. */
export function unifiedHunks(patched: Omit<Patched, "after">): string {
  let text = "";
  /** The number of lines that the file has grown by so far. */
  let grown = 0;
  for (const { at, edits } of changesOf(patched)) {
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

/** Groups the changed lines, with `CONTEXT` lines around them. Adjacent groups are merged. */
function changesOf(patched: Omit<Patched, "after">): readonly Change[] {
  const all = withLastEnd(linesOf(patched), patched.afterLines);
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

/** For each line, the number of old lines before it. */
function prefixCounts(all: readonly LineEdit[]): readonly number[] {
  const counts = [0];
  for (const { kind } of all) counts.push(counts.at(-1)! + (kind === "add" ? 0 : 1));
  return counts;
}

/**
 * Gives the lines the ends that they have after the patch. In a file without a last line end, a line that becomes the
 * last one or no longer is the last one changes its end, although no hunk says so.
 */
function withLastEnd(edits: readonly LineEdit[], after: readonly string[]): readonly LineEdit[] {
  let at = 0;
  return edits.flatMap((edit): readonly LineEdit[] => {
    if (edit.kind === "remove") return [edit];
    const line = after[at++]!;
    if (line === edit.line) return [edit];
    return [
      ...(edit.kind === "keep" ? [{ kind: "remove" as const, line: edit.line }] : []),
      { kind: "add", line },
    ];
  });
}

function linesOf({ before, replacements }: Omit<Patched, "after">): readonly LineEdit[] {
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
