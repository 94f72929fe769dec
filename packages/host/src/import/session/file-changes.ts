import { resolve } from "node:path";
import type { FileUpdateChange } from "@bobbin/protocol";
import { type FilePatch, PatchError, parsePatch } from "../../tool/patch/parse-patch.ts";

type Line = readonly [sign: " " | "-" | "+", text: string];

/** Converts a patch of the Codex CLI to file changes of the protocol; undefined if the text is not a patch. */
export function patchChanges(patch: string, cwd: string): readonly FileUpdateChange[] | undefined {
  try {
    return parsePatch(patch).map((file) => changeOf(file, cwd));
  } catch (cause) {
    if (cause instanceof PatchError) return undefined;
    throw cause;
  }
}

function changeOf(file: FilePatch, cwd: string): FileUpdateChange {
  const path = resolve(cwd, file.path);
  switch (file.kind) {
    case "add":
      return { path, kind: { type: "add" }, diff: file.lines.map((line) => `${line}\n`).join("") };
    case "delete":
      return { path, kind: { type: "delete" }, diff: "" };
    case "update": {
      const hunks = file.hunks.map(({ edits }) =>
        edits.map(({ kind, text }): Line => [kind === "keep" ? " " : kind === "add" ? "+" : "-", text]),
      );
      const moveTo = file.moveTo === null ? null : resolve(cwd, file.moveTo);
      const diff = hunksText(hunks);
      return {
        path,
        kind: { type: "update", move_path: moveTo },
        diff: moveTo === null ? diff : `${diff}\n\nMoved to: ${moveTo}`,
      };
    }
  }
}

/** Replacement of one text by another. */
export interface Replacement {
  readonly before: string;
  readonly after: string;
}

/** Makes one file change of several replacements. */
export function replacedIn(path: string, replacements: readonly Replacement[]): FileUpdateChange {
  const hunks = replacements.map(({ before, after }): readonly Line[] => [
    ...linesOf(before).map((text): Line => ["-", text]),
    ...linesOf(after).map((text): Line => ["+", text]),
  ]);
  return { path, kind: { type: "update", move_path: null }, diff: hunksText(hunks) };
}

function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}

/** Formats hunks of a unified diff. Their positions in the file are unknown, so line numbers start at 1. */
function hunksText(hunks: readonly (readonly Line[])[]): string {
  let [old, now] = [1, 1];
  let text = "";
  for (const lines of hunks) {
    const [olds, news] = (["-", "+"] as const).map(
      (sign) => lines.filter(([one]) => one === " " || one === sign).length,
    ) as [number, number];
    text += `@@ -${old},${olds} +${now},${news} @@\n${lines.map(([sign, line]) => `${sign}${line}\n`).join("")}`;
    old += olds;
    now += news;
  }
  return text;
}
