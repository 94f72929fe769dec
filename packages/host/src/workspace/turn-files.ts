import { isAbsolute, join, relative, sep } from "node:path";
import type { ThreadState } from "../core/state.ts";
import type { FilesBefore, TurnChanges, WorkingTree } from "../core/turn/changes.ts";
import { upwards } from "../platform/upwards.ts";
import { type FileChange, fileDiffs } from "./diff-text.ts";
import { type BlobStore, type FilePorts, readFile, savedFile, saveFiles } from "./saved-files.ts";
import { diffRoom, diffWithin, digestOf } from "./turn-diff.ts";

/** What a call may change: these files, or whatever is in the workspace. */
export type FileScope = readonly string[] | "workspace";

/** What a turn has changed, as clients are shown it. */
export interface ShownChanges {
  readonly diff: string;
  readonly digest: string;
  readonly trees: readonly WorkingTree[];
}

/** Saves files before calls change them, and says what a turn has made of them. */
export class TurnFiles {
  readonly #ports: FilePorts;

  constructor(ports: FilePorts) {
    this.#ports = ports;
  }

  /** Saves what a call may change. Never throws: a call is not held up by what cannot be saved. */
  async before(thread: ThreadState, blobs: BlobStore, scope: FileScope): Promise<FilesBefore> {
    try {
      const paths = scope === "workspace" ? [] : unsaved(thread.turn?.changes, scope);
      return await saveFiles(this.#ports, thread.facts.owner, blobs, paths);
    } catch (cause) {
      return { pack: null, files: [], trees: [], missing: (cause as Error).message };
    }
  }

  /** The diff of a turn: its files as they were before it, against what they are now. Says what it cannot show. */
  async diff(
    thread: ThreadState,
    blobs: BlobStore,
    changes: TurnChanges,
    _signal: AbortSignal,
  ): Promise<ShownChanges> {
    const missing = changes.before.flatMap((before) => before.missing ?? []);
    const found = await this.#patched(thread, blobs, changes, missing);
    const bytes = diffWithin(fileDiffs(found), missing, diffRoom(changes.sent));
    return { diff: Buffer.from(bytes, "latin1").toString("utf8"), digest: digestOf(bytes), trees: [] };
  }

  /** Files that were saved one by one. */
  async #patched(
    thread: ThreadState,
    blobs: BlobStore,
    { before }: TurnChanges,
    missing: string[],
  ): Promise<readonly FileChange[]> {
    const tops = new Tops(this.#ports, thread);
    const seen = new Set<string>();
    const found: FileChange[] = [];
    for (const { pack, files } of before) {
      for (const file of files) {
        if (seen.has(file.path)) continue;
        seen.add(file.path);
        try {
          const old = await savedFile(blobs, pack, file);
          const now = await readFile(this.#ports, thread.facts.owner, file.path);
          if (old === undefined) missing.push(`${file.path}: what was saved of it is gone`);
          else found.push({ path: bytesOf(await tops.shown(file.path)), before: old, after: now });
        } catch (cause) {
          missing.push(`${file.path}: ${(cause as Error).message}`);
        }
      }
    }
    return found;
  }
}

/** Those of a call's files that no call of the turn has saved before. */
function unsaved(changes: TurnChanges | undefined, paths: readonly string[]): readonly string[] {
  const saved = new Set(changes?.before.flatMap(({ files }) => files.map(({ path }) => path)));
  return paths.filter((path) => !saved.has(path));
}

function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Names files as git does: from the top of their repository, else from the workspace's folder. */
class Tops {
  readonly #ports: FilePorts;
  readonly #thread: ThreadState;
  #found: Promise<readonly string[]> | undefined;

  constructor(ports: FilePorts, thread: ThreadState) {
    this.#ports = ports;
    this.#thread = thread;
  }

  async shown(path: string): Promise<string> {
    this.#found ??= this.#find();
    for (const top of await this.#found) {
      const name = relative(top, path);
      if (name !== "" && !isAbsolute(name) && name !== ".." && !name.startsWith(`..${sep}`)) return name;
    }
    return path.replace(/^[/\\]+/, "");
  }

  async #find(): Promise<readonly string[]> {
    const { settings, facts } = this.#thread;
    const files = this.#ports.filesOf(facts.owner);
    const roots = await Promise.all(
      (settings.roots ?? [settings.cwd]).map((root) => this.#ports.files.realPath(root).catch(() => root)),
    );
    const tops: string[] = [];
    for (const root of roots) {
      let top = root;
      for (const folder of upwards(root)) {
        if (!(await files.exists(join(folder, ".git")))) continue;
        top = folder;
        break;
      }
      tops.push(top);
    }
    return tops;
  }
}
