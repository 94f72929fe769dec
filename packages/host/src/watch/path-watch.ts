import { basename, join } from "node:path";
import type {
  Bounds,
  FileIdentity,
  MachineFileAccess,
  PathTrace,
  WatchedChange,
} from "../platform/machine-file-access.ts";
import type { Cancel, Timers } from "../platform/platform.ts";
import type { SharedWatches } from "./shared-watches.ts";

/** Minimum delay between two resolutions of the path. */
const RESOLVE_EVERY_MS = 50;
/** Delay before a failed watch is retried, for example when the system is out of watches. */
const RETRY_MS = 1000;
/** Limit on repeated resolutions while the path keeps changing; the watches report further changes. */
const MAX_RESOLUTIONS = 5;
/** Limit on the entries that are reported one by one when a folder appears. */
const MAX_ENTRIES = 1000;

export interface PathWatchPorts {
  readonly files: Pick<MachineFileAccess, "trace" | "list">;
  readonly watches: Pick<SharedWatches, "listen">;
  readonly timers: Timers;
  readonly bounds: Bounds;
  /** Called with the watched path, or with the path of a direct entry of it. */
  changed(path: string): void;
}

/**
 * Watches the target of a path, and everything on the way that determines it: each folder and each symlink. So a file
 * that is replaced, removed or created stays watched, and so does a path that does not exist yet.
 */
export class PathWatch {
  readonly #path: string;
  readonly #ports: PathWatchPorts;
  /** Active watches by key. */
  readonly #watches = new Map<string, () => void>();
  #trace: PathTrace = { hops: [], found: undefined };
  #closed = false;
  /** Whether a resolution is running, or ended less than the minimum delay ago. */
  #isResolving = false;
  #mustResolveAgain = false;
  /** Whether changes may have been missed. */
  #isUnsure = false;
  #cancel: Cancel | undefined;

  private constructor(path: string, ports: PathWatchPorts) {
    this.#path = path;
    this.#ports = ports;
  }

  /**
   * Resolves when the path is watched, so that no later change is missed. Throws Node's error if the path cannot be
   * watched.
   */
  static async start(path: string, ports: PathWatchPorts): Promise<PathWatch> {
    const watch = new PathWatch(path, ports);
    try {
      await watch.#settle();
    } catch (cause) {
      watch.close();
      throw cause;
    }
    return watch;
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
    this.#stopUnneeded(new Set());
  }

  /**
   * Resolves the path repeatedly, until the result is unchanged after everything on the way is watched. Resolves with
   * whether the path led to another target meanwhile, whose changes may have been missed.
   */
  async #settle(): Promise<boolean> {
    const before = this.#trace.found?.id;
    let wasOther = false;
    for (let resolutions = 0; resolutions < MAX_RESOLUTIONS && !this.#closed; resolutions++) {
      const trace = await this.#ports.files.trace(this.#path, this.#ports.bounds);
      if (this.#closed) break;
      const isSame = resolutions > 0 && signatureOf(trace) === signatureOf(this.#trace);
      this.#trace = trace;
      this.#listen(trace);
      wasOther ||= trace.found?.id !== before;
      if (isSame) break;
    }
    return wasOther;
  }

  #listen({ hops, found }: PathTrace): void {
    const needed = new Set<string>();
    for (const { folder, name, isLast } of hops)
      this.#ensureWatch(needed, `${folder.id} ${folder.path} ${name}`, folder, isLast, (change) =>
        this.#atHop(change, name, isLast),
      );
    if (found !== undefined)
      this.#ensureWatch(needed, `${found.id} ${found.path}`, found, true, (change) => this.#atEnd(change));
    this.#stopUnneeded(needed);
  }

  #ensureWatch(
    needed: Set<string>,
    key: string,
    file: FileIdentity,
    mustWork: boolean,
    listener: (change: WatchedChange) => void,
  ): void {
    needed.add(key);
    if (this.#watches.has(key)) return;
    try {
      const stop = this.#ports.watches.listen(file, (change) => {
        if (this.#closed || !this.#watches.has(key)) return;
        if (change.kind === "unsure") this.#watches.delete(key);
        listener(change);
      });
      this.#watches.set(key, stop);
    } catch (cause) {
      const { code } = cause as { readonly code?: string };
      // The path was removed in between. The watch of its parent reports that.
      if (code === "ENOENT" || code === "ENOTDIR") return;
      // An unreadable folder on the way is skipped.
      if (mustWork || (code !== "EACCES" && code !== "EPERM")) throw cause;
    }
  }

  #stopUnneeded(needed: ReadonlySet<string>): void {
    for (const [key, stop] of this.#watches) {
      if (needed.has(key)) continue;
      this.#watches.delete(key);
      stop();
    }
  }

  /** Handles a change in a folder on the way. */
  #atHop(change: WatchedChange, name: string, isLast: boolean): void {
    if (change.kind === "entry" && change.name !== name) return;
    if (isLast && change.kind === "entry") this.#ports.changed(this.#path);
    if (isLast && change.kind === "unsure") this.#isUnsure = true;
    this.#resolveSoon();
  }

  /** Handles a change of the target. */
  #atEnd(change: WatchedChange): void {
    if (change.kind === "unsure") {
      this.#isUnsure = true;
      return this.#resolveSoon();
    }
    const isFolder = this.#trace.found?.kind === "folder";
    this.#ports.changed(isFolder ? join(this.#path, change.name) : this.#path);
  }

  #resolveSoon(): void {
    if (this.#isResolving) this.#mustResolveAgain = true;
    else this.#resolve();
  }

  #resolve(): void {
    this.#isResolving = true;
    this.#mustResolveAgain = false;
    void this.#resolveAgain().then(
      () => this.#pause(RESOLVE_EVERY_MS),
      () => {
        this.#mustResolveAgain = true;
        this.#pause(RETRY_MS);
      },
    );
  }

  #pause(ms: number): void {
    if (this.#closed) return;
    this.#cancel = this.#ports.timers.after(ms, () => {
      this.#isResolving = false;
      if (this.#mustResolveAgain) this.#resolve();
    });
  }

  async #resolveAgain(): Promise<void> {
    const before = this.#trace.found;
    const wasUnsure = this.#isUnsure;
    this.#isUnsure = false;
    let isOther: boolean;
    try {
      isOther = await this.#settle();
    } catch (cause) {
      this.#isUnsure = wasUnsure;
      throw cause;
    }
    const { found } = this.#trace;
    const mayDiffer = wasUnsure && (found?.kind === "folder" || found?.stamp !== before?.stamp);
    if (this.#closed || (!isOther && !mayDiffer)) return;
    this.#ports.changed(this.#path);
    if (found?.kind === "folder") await this.#reportEntries(found, isOther);
  }

  /**
   * Reports entries that were created before the folder was watched: all entries of a new folder. Of a known folder,
   * only the entry with the folder's own name, because events about it are ambiguous.
   */
  async #reportEntries({ path }: FileIdentity, isNew: boolean): Promise<void> {
    const { files, bounds } = this.#ports;
    // Failures are ignored, because the change of the folder itself was already reported.
    const entries = await files.list(path, MAX_ENTRIES, bounds).catch(() => []);
    if (this.#closed) return;
    for (const { name } of entries)
      if (isNew || name === basename(path)) this.#ports.changed(join(this.#path, name));
  }
}

function signatureOf({ hops, found }: PathTrace): string {
  return JSON.stringify([
    hops.map(({ folder, name }) => [folder.path, folder.id, name]),
    found?.path,
    found?.id,
  ]);
}
