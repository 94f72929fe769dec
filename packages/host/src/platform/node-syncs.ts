import { FewAtOnce } from "./few-at-once.ts";
import { called, type FileCalls } from "./node-append-file.ts";

/** Node's pool has four threads. A sync holds one for as long as the disk takes; one is left for reads and writes. */
const AT_ONCE = 3;

/**
 * Syncs of files and folders, few at once: when thousands of turns end together, reads and writes of others must not wait
 * behind all of their syncs. Folders are shared: one sync of a folder is enough for all who wait for it.
 */
export class NodeSyncs {
  readonly #fs: FileCalls;
  readonly #few = new FewAtOnce(AT_ONCE);
  /** Syncs of folders that have not begun: they will see whatever is in the folder by now. */
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(fs: FileCalls) {
    this.#fs = fs;
  }

  file(fd: number): Promise<void> {
    return this.#few.run(() => called((answer) => this.#fs.fdatasync(fd, answer)));
  }

  /** Makes the names in a folder survive a power cut. Windows has no such call, and needs none. */
  folder(path: string): Promise<void> {
    if (process.platform === "win32") return Promise.resolve();
    const waiting = this.#waiting.get(path);
    if (waiting !== undefined) return waiting;
    let begun = false;
    const sync = this.#few.run(() => {
      begun = true;
      this.#waiting.delete(path);
      return this.#syncFolder(path);
    });
    if (!begun) this.#waiting.set(path, sync);
    return sync;
  }

  async #syncFolder(path: string): Promise<void> {
    const fd = await new Promise<number>((done, fail) =>
      this.#fs.open(path, "r", (cause, opened) => (cause === null ? done(opened) : fail(cause))),
    );
    try {
      await called((answer) => this.#fs.fsync(fd, answer));
    } finally {
      await called((answer) => this.#fs.close(fd, answer));
    }
  }
}
