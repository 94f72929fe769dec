// Compares patches of random files with a simple reference implementation.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../../../test/support/long-form.ts";
import { PatchError, parsePatch } from "./parse-patch.ts";
import { planPatch } from "./plan-patch.ts";

const RUNS = times(1000, 10_000);

interface HunkLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

interface ReferenceHunk {
  readonly anchor: string | null;
  readonly lines: readonly HunkLine[];
}

/** Lines of a file with LF ends; the last one has an end, too. */
type Lines = readonly string[];

/** The index of a sequence of lines in a file, from a line on; -1 if it is missing. */
function indexOf(file: Lines, wanted: Lines, from: number): number {
  for (const clean of [
    (line: string) => line,
    (line: string) => line.replace(/[ \t]+$/, ""),
    (line: string) => line.replace(/^[ \t]+|[ \t]+$/g, ""),
  ]) {
    for (let at = from; at + wanted.length <= file.length; at++) {
      const here = file.slice(at, at + wanted.length).map(clean);
      if (here.join("\n") === wanted.map(clean).join("\n")) return at;
    }
  }
  return -1;
}

/** The reference: finds each hunk after the previous one, and replaces its old lines by its new ones. */
function reference(file: Lines, hunks: readonly ReferenceHunk[]): Lines | undefined {
  let result: string[] = [];
  let done = 0;
  for (const { anchor, lines } of hunks) {
    let from = done;
    if (anchor !== null) {
      from = indexOf(file, [anchor], done);
      if (from < 0) return undefined;
      from++;
    }
    const old = lines.filter(({ sign }) => sign !== "+").map(({ text }) => text);
    let at = indexOf(file, old, from);
    if (old.length === 0) at = anchor === null ? file.length : from;
    if (at < 0) return undefined;
    result = [...result, ...file.slice(done, at)];
    let next = at;
    for (const { sign, text } of lines) {
      if (sign === "+") result.push(text);
      else if (sign === " ") result.push(file[next++]!);
      else next++;
    }
    done = next;
  }
  return [...result, ...file.slice(done)];
}

function patchOf(hunks: readonly ReferenceHunk[]): string {
  const body = hunks.flatMap(({ anchor, lines }) => [
    anchor === null ? "@@" : `@@ ${anchor}`,
    ...lines.map(({ sign, text }) => sign + text),
  ]);
  return ["*** Begin Patch", "*** Update File: f", ...body, "*** End Patch"].join("\n");
}

async function applied(content: string, patch: string): Promise<string | undefined> {
  try {
    const { writes } = await planPatch(parsePatch(patch), "/", async () => content);
    return writes.length === 0 ? content : writes[0]!.after!;
  } catch (cause) {
    if (cause instanceof PatchError) return undefined;
    throw cause;
  }
}

/** Few different lines, so that many places look alike. */
const line = fc.constantFrom("a", "b", "c", "  a", "a  ", "\tb", "b c", "d");
const file = fc.array(line, { minLength: 1, maxLength: 14 });
const noise = fc.constantFrom("", "", "", " ", "  ");

/** Hunks that mostly fit: pieces of the file, some with other spaces, some lines gone, some new. */
const patched = file.chain((lines) => {
  const hunk = fc
    .record({
      at: fc.nat(lines.length - 1),
      length: fc.integer({ min: 0, max: 4 }),
      signs: fc.array(fc.constantFrom(" ", "-", "+-", "+ ", "wrong" as const), {
        minLength: 5,
        maxLength: 5,
      }),
      before: noise,
      behind: noise,
      anchored: fc.boolean(),
      added: line,
    })
    .map(({ at, length, signs, before, behind, anchored, added }): ReferenceHunk => {
      const found: HunkLine[] = [];
      for (const [nth, text] of lines.slice(at, at + length).entries()) {
        const sign = signs[nth]!;
        const spaced = before + text + behind;
        if (sign === "wrong") found.push({ sign: " ", text: `${spaced}?` });
        else if (sign.length === 2)
          found.push({ sign: "+", text: added }, { sign: sign[1] as " ", text: spaced });
        else found.push({ sign: sign as " ", text: spaced });
      }
      if (!found.some(({ sign }) => sign === "+")) found.push({ sign: "+", text: added });
      return { anchor: anchored && at > 0 ? lines[at - 1]! : null, lines: found };
    });
  return fc.record({ lines: fc.constant(lines), hunks: fc.array(hunk, { minLength: 1, maxLength: 3 }) });
});

const joined = (lines: Lines, end: string): string => lines.map((one) => one + end).join("");

describe("a patch of a random file", () => {
  it("[PATCH-15] comes to what a simple reference makes of it, with LF as with CRLF, or fits in neither", async () => {
    let fits = 0;
    let misfits = 0;
    await fc.assert(
      fc.asyncProperty(patched, async ({ lines, hunks }) => {
        const wanted = reference(lines, hunks);
        if (wanted === undefined) misfits++;
        else fits++;
        for (const end of ["\n", "\r\n"]) {
          const found = await applied(joined(lines, end), patchOf(hunks));
          expect(found).toBe(wanted === undefined ? undefined : joined(wanted, end));
        }
      }),
      { numRuns: RUNS },
    );
    // Both outcomes occur often enough.
    expect(Math.min(fits, misfits)).toBeGreaterThan(RUNS / 20);
  });

  it("[PATCH-15] that is made from two files leads from the one to the other", async () => {
    // Two lines at least: the end of one line without an end is nowhere to be seen.
    const unique = fc.uniqueArray(
      fc.nat(500).map((nth) => `line ${nth}`),
      { minLength: 2, maxLength: 30 },
    );
    const edit = fc.constantFrom("keep", "keep", "keep", "remove", "add" as const);
    const edits = unique.chain((lines) =>
      fc.array(edit, { minLength: lines.length, maxLength: lines.length }).map((all) => ({ lines, all })),
    );
    await fc.assert(
      fc.asyncProperty(
        edits,
        fc.constantFrom("\n", "\r\n"),
        fc.boolean(),
        async ({ lines, all }, end, open) => {
          const hunk: HunkLine[] = [];
          const after: string[] = [];
          for (const [nth, text] of lines.entries()) {
            if (all[nth] === "add") {
              hunk.push({ sign: "+", text: `new ${nth}` });
              after.push(`new ${nth}`);
            }
            hunk.push({ sign: all[nth] === "remove" ? "-" : " ", text });
            if (all[nth] !== "remove") after.push(text);
          }
          const cut = (text: string): string =>
            open ? text.slice(0, Math.max(0, text.length - end.length)) : text;
          const found = await applied(cut(joined(lines, end)), patchOf([{ anchor: null, lines: hunk }]));
          expect(found).toBe(cut(joined(after, end)));
        },
      ),
      { numRuns: RUNS },
    );
  });
});
