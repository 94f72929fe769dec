import { isAbsolute, resolve } from "node:path";
import type { FileUpdateChange } from "@bobbin/protocol";
import { applyHunks } from "./apply-hunks.ts";
import { fromByteText, toByteText } from "./byte-text.ts";
import { type FilePatch, PatchError } from "./parse.ts";
import { unifiedHunks } from "./unified-hunks.ts";

/** What a patch comes to: each file that it touches, before and after, as byte strings. Null: no file. */
export interface FileWrite {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** The file whose mode it gets, where it was moved. */
  readonly movedFrom?: string | undefined;
}

export interface PatchPlan {
  readonly writes: readonly FileWrite[];
  /** As clients see them, in the patch's order. */
  readonly changes: readonly FileUpdateChange[];
  /** As the model is told them: A, M or D and the path that it wrote. */
  readonly summary: readonly string[];
}

/** Reads a file as a byte string; null if there is none. */
export type ReadFile = (path: string) => Promise<string | null>;

/** Works out what a patch changes, and changes nothing. Throws a PatchError where it does not fit. */
export async function planPatch(
  files: readonly FilePatch[],
  cwd: string,
  read: ReadFile,
): Promise<PatchPlan> {
  const draft = new Draft(read);
  const changes: FileUpdateChange[] = [];
  const summary: string[] = [];
  for (const file of files) {
    const path = isAbsolute(file.path) ? resolve(file.path) : resolve(cwd, file.path);
    switch (file.kind) {
      case "add": {
        const content = toByteText(file.lines.map((line) => `${line}\n`).join(""));
        await draft.load(path);
        draft.set(path, content);
        changes.push({ path, kind: { type: "add" }, diff: fromByteText(content) });
        summary.push(`A ${file.path}`);
        break;
      }
      case "delete": {
        const content = await draft.existing(path, file.path, "delete");
        draft.set(path, null);
        changes.push({ path, kind: { type: "delete" }, diff: fromByteText(content) });
        summary.push(`D ${file.path}`);
        break;
      }
      case "update": {
        const content = await draft.existing(path, file.path, "update");
        const patched = applyHunks(file.path, content, file.hunks);
        const moveTo = file.moveTo === null ? null : resolve(cwd, file.moveTo);
        if (moveTo !== null && moveTo !== path) {
          await draft.load(moveTo);
          draft.move(path, moveTo);
        }
        draft.set(moveTo ?? path, patched.after);
        const hunks = unifiedHunks(patched);
        changes.push({
          path,
          kind: { type: "update", move_path: moveTo },
          diff: moveTo === null ? hunks : `${hunks}\n\nMoved to: ${moveTo}`,
        });
        summary.push(`M ${file.moveTo ?? file.path}`);
      }
    }
  }
  return { writes: draft.writes(), changes, summary: inOrder(summary) };
}

/** Added files first, then changed, then deleted ones. */
function inOrder(summary: readonly string[]): readonly string[] {
  return ["A", "M", "D"].flatMap((kind) => summary.filter((line) => line.startsWith(kind)));
}

/** The files of a patch as they become, hunk by hunk: a patch may touch one file several times. */
class Draft {
  readonly #read: ReadFile;
  readonly #before = new Map<string, string | null>();
  readonly #after = new Map<string, string | null>();
  readonly #movedFrom = new Map<string, string>();

  constructor(read: ReadFile) {
    this.#read = read;
  }

  async load(path: string): Promise<string | null> {
    if (!this.#before.has(path)) {
      const content = await this.#read(path);
      this.#before.set(path, content);
      this.#after.set(path, content);
    }
    return this.#after.get(path)!;
  }

  async existing(path: string, shown: string, verb: string): Promise<string> {
    const content = await this.load(path);
    if (content === null) throw new PatchError(`There is no file ${shown} to ${verb}.`);
    return content;
  }

  set(path: string, content: string | null): void {
    this.#after.set(path, content);
  }

  move(from: string, to: string): void {
    this.#movedFrom.set(to, this.#movedFrom.get(from) ?? from);
    this.#after.set(from, null);
  }

  writes(): readonly FileWrite[] {
    return [...this.#before]
      .map(([path, before]) => {
        const movedFrom = this.#movedFrom.get(path);
        return { path, before, after: this.#after.get(path)!, ...(movedFrom !== undefined && { movedFrom }) };
      })
      .filter(({ before, after }) => before !== after);
  }
}
