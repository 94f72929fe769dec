import type { FileIdentity, Watch, WatchedChange } from "../platform/machine-file-access.ts";
import type { Cancel, Timers } from "../platform/platform.ts";

type Listener = (change: WatchedChange) => void;

interface Shared {
  readonly key: string;
  readonly listeners: Set<Listener>;
  readonly close: () => void;
  /** Changes in the current time window. */
  changes: number;
  cancelWindow: Cancel | undefined;
}

/**
 * With more changes than this in one window, the system's queue may have overflowed: beyond about 16,000 it drops
 * changes silently.
 */
const BURST = 4000;
const BURST_WINDOW_MS = 200;

/** Keeps one system watch per file or folder, shared by all its listeners. */
export class SharedWatches {
  readonly #watch: Watch;
  readonly #timers: Timers;
  readonly #limit: number;
  readonly #shared = new Map<string, Shared>();

  constructor(watch: Watch, timers: Timers, limit: number) {
    this.#watch = watch;
    this.#timers = timers;
    this.#limit = limit;
  }

  get size(): number {
    return this.#shared.size;
  }

  /**
   * Calls `listener` for each change until the returned function is called. Throws Node's error, or `EWATCHES` at the
   * limit.
   */
  listen(file: FileIdentity, listener: Listener): () => void {
    // A different file at the same path needs a watch of its own.
    const key = `${file.id} ${file.path}`;
    const shared = this.#shared.get(key) ?? this.#open(key, file.path);
    shared.listeners.add(listener);
    return () => {
      shared.listeners.delete(listener);
      if (shared.listeners.size === 0) this.#drop(shared);
    };
  }

  #open(key: string, path: string): Shared {
    if (this.#shared.size >= this.#limit)
      throw Object.assign(new Error("the limit on file watches is reached"), { code: "EWATCHES" });
    const { close } = this.#watch(path, (change) => this.#changed(shared, change));
    const shared: Shared = { key, listeners: new Set(), close, changes: 0, cancelWindow: undefined };
    this.#shared.set(key, shared);
    return shared;
  }

  #changed(shared: Shared, change: WatchedChange): void {
    if (this.#shared.get(shared.key) !== shared) return;
    if (shared.changes++ === 0)
      shared.cancelWindow = this.#timers.after(BURST_WINDOW_MS, () => this.#endWindow(shared));
    // The system's watch may have ended. A listener that still needs a watch calls `listen` again.
    if (change.kind === "unsure") this.#drop(shared);
    this.#notify(shared, change);
  }

  #endWindow(shared: Shared): void {
    const { changes } = shared;
    shared.changes = 0;
    if (changes > BURST && this.#shared.get(shared.key) === shared) this.#changed(shared, { kind: "unsure" });
  }

  #drop(shared: Shared): void {
    if (this.#shared.get(shared.key) !== shared) return;
    this.#shared.delete(shared.key);
    shared.cancelWindow?.();
    shared.close();
  }

  #notify({ listeners }: Shared, change: WatchedChange): void {
    for (const listener of [...listeners]) listener(change);
  }
}
