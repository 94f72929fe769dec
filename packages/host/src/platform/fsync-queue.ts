import { FewAtOnce } from "./concurrency-limit.ts";
import { type FileCalls, promised } from "./node-append-file.ts";

/**
 * Node's thread pool has four threads, and an fsync occupies one until the disk is done. With three fsyncs, one
 * thread stays free for reads and writes.
 */
const MAX_CONCURRENT = 3;

/**
 * Limits concurrent fsyncs. When thousands of turns end together, reads and writes must not wait for all their
 * fsyncs. One fsync of a folder serves all callers that wait for that folder.
 */
export class FsyncQueue {
  readonly #fs: FileCalls;
  readonly #limit = new FewAtOnce(MAX_CONCURRENT);
  /** Folder fsyncs that have not started. Each will cover all entries that are in its folder by then. */
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(fs: FileCalls) {
    this.#fs = fs;
  }

  file(fd: number): Promise<void> {
    return this.#limit.run(() => promised((answer) => this.#fs.fdatasync(fd, answer)));
  }

  /** Fsyncs a folder, so that its entries survive a power cut. Windows has no such call and needs none. */
  folder(path: string): Promise<void> {
    if (process.platform === "win32") return Promise.resolve();
    const waiting = this.#waiting.get(path);
    if (waiting !== undefined) return waiting;
    let started = false;
    const sync = this.#limit.run(() => {
      started = true;
      this.#waiting.delete(path);
      return this.#syncFolder(path);
    });
    if (!started) this.#waiting.set(path, sync);
    return sync;
  }

  async #syncFolder(path: string): Promise<void> {
    const fd = await new Promise<number>((done, fail) =>
      this.#fs.open(path, "r", (cause, opened) => (cause === null ? done(opened) : fail(cause))),
    );
    try {
      await promised((answer) => this.#fs.fsync(fd, answer));
    } finally {
      await promised((answer) => this.#fs.close(fd, answer));
    }
  }
}
