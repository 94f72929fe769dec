import { isAbsolute, resolve } from "node:path";
import type { FileUpdateChange } from "@bobbin/protocol";
import type { FilePlace } from "../../platform/platform.ts";
import { applyHunks } from "./apply-hunks.ts";
import { fromByteText, toByteText } from "./byte-text.ts";
import { type FilePatch, PatchError } from "./parse-patch.ts";
import { unifiedHunks } from "./unified-hunks.ts";

/** A file that a patch changes. `before` and `after` are byte strings with its content; null for no file. */
export interface FileWrite {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** The path of the file that was moved here. The new file gets its mode. */
  readonly movedFrom?: string | undefined;
  /** Where the file was when the patch was decided about. The write takes place there or fails. */
  readonly place?: FilePlace | undefined;
}

/** The result of planning a patch. */
export interface PatchPlan {
  readonly writes: readonly FileWrite[];
  /** The changes as clients see them, in the patch's order. */
  readonly changes: readonly FileUpdateChange[];
}

/** Reads a file as a byte string; null if there is none. */
export type ReadFile = (path: string) => Promise<string | null>;

/** Computes the changes of a patch without writing anything. Throws a PatchError if a hunk does not match. */
export async function planPatch(
  files: readonly FilePatch[],
  cwd: string,
  read: ReadFile,
): Promise<PatchPlan> {
  const draft = new Draft(read);
  const changes: FileUpdateChange[] = [];
  for (const file of files) {
    const path = isAbsolute(file.path) ? resolve(file.path) : resolve(cwd, file.path);
    switch (file.kind) {
      case "add": {
        const content = toByteText(file.lines.map((line) => `${line}\n`).join(""));
        await draft.load(path);
        draft.set(path, content);
        changes.push({ path, kind: { type: "add" }, diff: fromByteText(content) });
        break;
      }
      case "delete": {
        const content = await draft.existing(path, file.path, "delete");
        draft.set(path, null);
        changes.push({ path, kind: { type: "delete" }, diff: fromByteText(content) });
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
      }
    }
  }
  return { writes: draft.writes(), changes };
}

/**
 * The report for the model that a patch was applied, in the form of the Codex CLI: A, M or D, and each path as the
 * model wrote it. Added files come first, then changed ones, then deleted ones.
 */
export function patchReport(files: readonly FilePatch[]): string {
  const inOrder = [
    ...files.flatMap((file) => (file.kind === "add" ? [`A ${file.path}`] : [])),
    ...files.flatMap((file) => (file.kind === "update" ? [`M ${file.moveTo ?? file.path}`] : [])),
    ...files.flatMap((file) => (file.kind === "delete" ? [`D ${file.path}`] : [])),
  ];
  return `Success. Updated the following files:\n${inOrder.join("\n")}\n`;
}

/** The contents of files while a patch is being planned. A patch may change the same file several times. */
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
