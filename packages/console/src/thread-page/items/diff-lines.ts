import type { PatchChangeKind } from "@bobbin/protocol";

export interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "place";
  readonly text: string;
  readonly oldNumber: number | null;
  readonly newNumber: number | null;
}

/** The lines of a diff with their numbers. For a new or deleted file, the content replaces the diff. */
export function diffLines(diff: string, kind: PatchChangeKind["type"]): readonly DiffLine[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  if (kind !== "update" && !diff.startsWith("@@") && !diff.startsWith("--- ")) {
    if (diff === "") return [];
    return lines.map((text, at) =>
      kind === "add"
        ? { kind: "added", text, oldNumber: null, newNumber: at + 1 }
        : { kind: "removed", text, oldNumber: at + 1, newNumber: null },
    );
  }
  let oldNumber = 0;
  let newNumber = 0;
  let isInside = false;
  const found: DiffLine[] = [];
  for (const line of lines) {
    const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (place) {
      isInside = true;
      oldNumber = Number(place[1]);
      newNumber = Number(place[2]);
      found.push({ kind: "place", text: line, oldNumber: null, newNumber: null });
    } else if (!isInside || line.startsWith("\\")) {
      // The header is skipped, because it only names the file.
    } else if (line.startsWith("+")) {
      found.push({ kind: "added", text: line.slice(1), oldNumber: null, newNumber: newNumber++ });
    } else if (line.startsWith("-")) {
      found.push({ kind: "removed", text: line.slice(1), oldNumber: oldNumber++, newNumber: null });
    } else {
      found.push({ kind: "same", text: line.slice(1), oldNumber: oldNumber++, newNumber: newNumber++ });
    }
  }
  return found;
}

export function diffCounts(lines: readonly DiffLine[]): { added: number; removed: number } {
  return {
    added: lines.filter(({ kind }) => kind === "added").length,
    removed: lines.filter(({ kind }) => kind === "removed").length,
  };
}
