import { fault, messageOf } from "../../errors.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock, Files, Timers } from "../../platform/platform.ts";
import { newestStore, type OpenStore, storeInMemory, supersededBy } from "./generations.ts";

export interface CurrentStoreOptions {
  readonly path: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /**
   * Whether every stored thread was made by this host, which has recorded each of its rows here. Then a new file lacks
   * nothing once the rows that wait are written.
   */
  hasRecordedAll?(): Promise<boolean>;
}

const BUSY_WAIT_MS = 25;
const LOOK_MS = 1000;

/**
 * The index that a host works with. The newest file is opened at first use and given up when it breaks. While no
 * file can be opened, the index is in memory, and the file is tried again.
 */
export class CurrentStore {
  readonly #options: CurrentStoreOptions;
  #opened: Promise<OpenStore> | undefined;
  #current: OpenStore | undefined;
  /** Files before this one were given up. */
  #least = 0;
  #lookedAt = 0;
  #closed = false;

  constructor(options: CurrentStoreOptions) {
    this.#options = options;
  }

  /** Undefined until it was used. */
  get current(): OpenStore | undefined {
    return this.#current;
  }

  async open(): Promise<OpenStore> {
    if (this.#closed) throw new Error("the index is closed");
    if (this.#current !== undefined) await this.#look(this.#current);
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Like `open`, but throws `storageFailed` if it can only be had in memory, however short ago the file was tried. */
  async openOnDisk(): Promise<OpenStore> {
    let open = await this.open();
    if (open.inMemoryBecause !== undefined) {
      await this.#returnToDisk(open);
      open = await this.open();
    }
    mustBeFile(open);
    return open;
  }

  /** Throws `storageFailed` if the index is in memory. One that was never used is not. */
  async mustBeOnDisk(): Promise<void> {
    if (this.#current !== undefined || this.#least > 0) mustBeFile(await this.open());
  }

  giveUp(open: OpenStore, cause: unknown): void {
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

  async #open(): Promise<OpenStore> {
    try {
      this.#lookedAt = this.#options.clock.monotonic();
      this.#current = await this.#newest(this.#least > 0).catch((cause: unknown) => {
        const { log, path } = this.#options;
        log.warn("the index cannot be opened; until it can, it is kept in memory", { path, cause });
        return storeInMemory(this.#least, cause);
      });
      await this.#markComplete(this.#current);
      return this.#current;
    } catch (cause) {
      this.#opened = undefined;
      throw cause;
    }
  }

  /** Most homes begin with this host and this file: no later host has to read all journals to find that nothing is missing. */
  async #markComplete(open: OpenStore): Promise<void> {
    if (!open.isNew || this.#least > 0) return;
    try {
      if (await this.#options.hasRecordedAll?.()) open.store.finish();
    } catch (cause) {
      this.#options.log.debug("a new index is filled from the journals", { cause });
    }
  }

  /** `behind`: this host has written to another store, whose rows the file may lack. */
  #newest(behind: boolean): Promise<OpenStore> {
    return newestStore(
      this.#options,
      { least: this.#least, behind },
      () => new Promise((go) => void this.#options.timers.after(BUSY_WAIT_MS, go)),
    );
  }

  /** Now and then: is there a file that takes the place of what we have? */
  async #look(open: OpenStore): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    if (open.inMemoryBecause !== undefined) await this.#returnToDisk(open);
    // Another host on this home may have found our file broken and have made a new one.
    else if (await supersededBy(this.#options, open))
      this.giveUp(open, new Error("another host made a new index"));
  }

  /** What was written to memory is in the journals, too: the file is marked as behind, and filled again from them. */
  async #returnToDisk(open: OpenStore): Promise<void> {
    const { log } = this.#options;
    let found: OpenStore;
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

  #leave(open: OpenStore): void {
    this.#current = undefined;
    this.#opened = undefined;
    try {
      open.store.close(true);
    } catch (cause) {
      this.#options.log.debug("an index that was given up did not close", { cause });
    }
  }
}

/** Throws `storageFailed` if it is in memory: the next host would trust the file that could not be opened. */
export function mustBeFile({ inMemoryBecause: cause }: OpenStore): void {
  if (cause === undefined) return;
  throw fault("storageFailed", `the index of threads cannot be opened (${messageOf(cause)})`);
}
