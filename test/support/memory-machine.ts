// For unit tests of the store: a machine whose files, locks, timers and clock the test controls.
import { join } from "node:path";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import type { Liveness, Platform } from "../../packages/host/src/platform/platform.ts";
import { MemoryFiles } from "./memory-files.ts";

export class MemoryMachine {
  readonly files: MemoryFiles;
  /** The locks that are held. A host is dead when its lock is not among them. */
  readonly locks = new Set<string>();
  /** The locks of which a host asked whether they are held, in order. */
  readonly looks: string[] = [];
  /** The acquired locks, in order. */
  readonly acquired: string[] = [];
  boot = "boot 1";
  now = 0;
  #ids = 0;
  #timers: { readonly due: number; readonly run: () => void }[] = [];
  /** Set to make `announce` fail. */
  announceFailure: Error | undefined;

  constructor(home = "/home") {
    this.files = new MemoryFiles(home);
  }

  get home(): string {
    return this.files.home;
  }

  /** Delays of the timers that wait, the shortest first. */
  get waits(): number[] {
    return this.#timers.map(({ due }) => due - this.now).sort((one, other) => one - other);
  }

  /** Lets time pass, with everything that becomes due in it. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      await settled();
      const next = this.#timers.filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.now = next.due;
      this.#timers = this.#timers.filter((other) => other !== next);
      next.run();
    }
    this.now = until;
  }

  kill(hostId: string): void {
    this.locks.delete(join(this.home, "live", `${hostId}.lock`));
  }

  revive(hostId: string): void {
    this.locks.add(join(this.home, "live", `${hostId}.lock`));
  }

  platform(): Platform {
    return {
      ...nodePlatform(),
      files: this.files,
      liveness: this.#liveness(),
      boot: { id: async () => this.boot, isNow: async (id) => id === this.boot },
      clock: { now: () => this.now, monotonic: () => this.now },
      timers: {
        after: (ms, run) => {
          const timer = { due: this.now + ms, run };
          this.#timers.push(timer);
          return () => {
            this.#timers = this.#timers.filter((other) => other !== timer);
          };
        },
        soon: (run) => queueMicrotask(run),
      },
      ids: { uuid: () => threadId(++this.#ids), integer: () => ++this.#ids },
    };
  }

  #liveness(): Liveness {
    const own = new Set<string>();
    return {
      announce: async (path) => {
        if (this.announceFailure !== undefined) throw this.announceFailure;
        this.locks.add(path);
        own.add(path);
        this.files.put(path, "");
        return async () => {
          this.locks.delete(path);
          await this.files.remove(path);
        };
      },
      alive: async (path) => {
        this.looks.push(path.slice(this.home.length + 1));
        return this.locks.has(path) && !own.has(path);
      },
      exclusively: async (path, work) => {
        this.acquired.push(path.slice(this.home.length + 1));
        return work();
      },
    };
  }
}

/** A thread ID that contains the time 2025-11-15T21:03:53Z, and a number. */
export function threadId(nth: number): string {
  return `019a8954-e4c0-7000-8000-${String(nth).padStart(12, "0")}`;
}

/** Resolves when all promises that can settle have settled, because a macrotask runs only then. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
