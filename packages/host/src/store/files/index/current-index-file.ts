import { fault, messageOf } from "../../../errors.ts";
import type { Log } from "../../../observe/log.ts";
import type { Clock, Files, Timers } from "../../../platform/platform.ts";
import { type OpenIndexFile, openInMemory, openNewest, supersededBy } from "./index-generations.ts";

export interface CurrentIndexFileOptions {
  readonly path: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /**
   * Whether this host created every stored thread, and so recorded each row. Then a new index file is complete once
   * the pending rows are written.
   */
  hasRecordedAll?(): Promise<boolean>;
}

const BUSY_WAIT_MS = 25;
const LOOK_MS = 1000;

/**
 * The index file that a host uses. Opens the newest file at the first use, and abandons a broken one. While no file
 * can be opened, the index is in memory, and opening is retried.
 */
export class CurrentIndexFile {
  readonly #options: CurrentIndexFileOptions;
  #opened: Promise<OpenIndexFile> | undefined;
  #current: OpenIndexFile | undefined;
  /** Lowest generation that may be used: earlier files were abandoned. */
  #least = 0;
  #lookedAt = 0;
  #closed = false;

  constructor(options: CurrentIndexFileOptions) {
    this.#options = options;
  }

  /** Undefined before the first use. */
  get current(): OpenIndexFile | undefined {
    return this.#current;
  }

  async open(): Promise<OpenIndexFile> {
    if (this.#closed) throw new Error("the index is closed");
    if (this.#current !== undefined) await this.#look(this.#current);
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Like `open`, but throws `storageFailed` if the index is in memory, after retrying to open the file. */
  async openOnDisk(): Promise<OpenIndexFile> {
    let open = await this.open();
    if (open.inMemoryBecause !== undefined) {
      await this.#returnToDisk(open);
      open = await this.open();
    }
    mustBeFile(open);
    return open;
  }

  /** Throws `storageFailed` if the index is in memory. Does not throw if the index was never used. */
  async mustBeOnDisk(): Promise<void> {
    if (this.#current !== undefined || this.#least > 0) mustBeFile(await this.open());
  }

  giveUp(open: OpenIndexFile, cause: unknown): void {
    if (this.#current !== open) return;
    this.#options.log.warn("the index is made anew from the journals", { path: open.path, cause });
    this.#least = open.generation + 1;
    this.#leave(open);
  }

  close(): void {
    this.#closed = true;
    try {
      this.#current?.store.close();
    } catch (cause) {
      this.#options.log.warn("the index did not close well", { cause });
    }
  }

  async #open(): Promise<OpenIndexFile> {
    try {
      this.#lookedAt = this.#options.clock.monotonic();
      this.#current = await this.#newest(this.#least > 0).catch((cause: unknown) => {
        const { log, path } = this.#options;
        log.warn("the index cannot be opened; until it can, it is kept in memory", { path, cause });
        return openInMemory(this.#least, cause);
      });
      await this.#markComplete(this.#current);
      return this.#current;
    } catch (cause) {
      this.#opened = undefined;
      throw cause;
    }
  }

  /**
   * Marks a new file as complete if this host recorded all threads. Otherwise a later host would have to read all
   * journals.
   */
  async #markComplete(open: OpenIndexFile): Promise<void> {
    if (!open.isNew || this.#least > 0) return;
    try {
      if (await this.#options.hasRecordedAll?.()) open.store.finish();
    } catch (cause) {
      this.#options.log.debug("a new index is filled from the journals", { cause });
    }
  }

  /** Opens the newest file. `behind`: this host has written rows elsewhere, which the file may lack. */
  #newest(behind: boolean): Promise<OpenIndexFile> {
    return openNewest(
      this.#options,
      { least: this.#least, behind },
      () => new Promise((go) => void this.#options.timers.after(BUSY_WAIT_MS, go)),
    );
  }

  /** Checks from time to time whether another index file should be used. */
  async #look(open: OpenIndexFile): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    if (open.inMemoryBecause !== undefined) await this.#returnToDisk(open);
    // Another host of this home may have found this file broken, and created a new one.
    else if (await supersededBy(this.#options, open))
      this.giveUp(open, new Error("another host made a new index"));
  }

  /**
   * Moves the index from memory back to a file. The rows in memory are also in the journals: the file is marked as
   * incomplete, and filled again from the journals.
   */
  async #returnToDisk(open: OpenIndexFile): Promise<void> {
    const { log } = this.#options;
    let found: OpenIndexFile;
    try {
      found = await this.#newest(true);
    } catch (cause) {
      log.debug("the index still cannot be opened", { cause });
      return;
    }
    if (this.#current !== open || this.#closed) return found.store.close(true);
    log.info("the index is on disk again", { path: found.path });
    this.#leave(open);
    this.#current = found;
    this.#opened = Promise.resolve(found);
  }

  #leave(open: OpenIndexFile): void {
    this.#current = undefined;
    this.#opened = undefined;
    try {
      open.store.close(true);
    } catch (cause) {
      this.#options.log.debug("an index that was given up did not close", { cause });
    }
  }
}

/**
 * Throws `storageFailed` if the index is in memory. The next host would trust the file that could not be opened now,
 * although the file lacks the change.
 */
export function mustBeFile({ inMemoryBecause: cause }: OpenIndexFile): void {
  if (cause === undefined) return;
  throw fault("storageFailed", `the index of threads cannot be opened (${messageOf(cause)})`);
}
