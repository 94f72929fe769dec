import { outlives } from "../core/turn/dead-host-recovery.ts";
import { Fault } from "../errors.ts";
import type { Supervisor } from "../observe/supervise.ts";
import { eachFewAtOnce } from "../platform/concurrency-limit.ts";
import type { Claims } from "../store/claims.ts";
import { isCaughtUp } from "../store/index-rebuild.ts";
import type { Journal } from "../store/journal.ts";
import { readHead } from "../store/thread-head.ts";
import type { KnownThread } from "../store/thread-index.ts";
import type { LoadedAndBusyThreads } from "./loaded-and-busy-threads.ts";
import { ANYONE, type StoredThreads, type WritableThread } from "./stored-threads.ts";

export interface RecoveryPorts {
  readonly journal: Journal;
  readonly claims: Claims;
  readonly stored: StoredThreads;
  readonly slots: LoadedAndBusyThreads;
  readonly supervisor: Supervisor;
  /** Updates the index from the thread's journal, if there is one. */
  recovering(threadId: string): Promise<void>;
  /** The state of each thread in the index. */
  listed(): Promise<ReadonlyMap<string, KnownThread>>;
  /** Takes over a thread as it is. No client is subscribed to it. */
  adopt(held: WritableThread): Promise<void>;
  /** Whether the host is shutting down. */
  stopped(): boolean;
}

/** The number of threads that are checked at a time. A check mostly waits for the disk. */
const AT_ONCE = 16;

/** Recovers the threads of dead hosts when a host starts. */
export class Recovery {
  readonly #ports: RecoveryPorts;
  #indexed: Promise<void> | undefined;

  constructor(ports: RecoveryPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when the index contains what dead hosts wrote last, as far as it can be read. Undefined for a host that
   * recovers nothing.
   */
  get indexed(): Promise<void> | undefined {
    return this.#indexed;
  }

  /**
   * Continues the threads that their host did not close. Threads that cannot continue are closed. `begun`: resolves
   * when the recovery may begin, or to false if it must not.
   */
  async run(begun: Promise<boolean> = Promise.resolve(true)): Promise<void> {
    let signalIndexed!: () => void;
    this.#indexed = new Promise((resolve) => {
      signalIndexed = resolve;
    });
    try {
      if (!(await begun)) return;
      const abandoned = await this.#ports.claims.abandoned();
      await this.#index(abandoned);
      signalIndexed();
      await this.#recoverAbandoned(abandoned);
    } finally {
      signalIndexed();
    }
  }

  /**
   * Updates the index before any thread is closed: lists wait for it, and closing a thread takes longer, because it is
   * synced.
   */
  async #index(threadIds: readonly string[]): Promise<void> {
    await eachFewAtOnce(AT_ONCE, threadIds, async (id) => {
      // The recovery of the thread finds the same problem again and reports it.
      if (!this.#ports.stopped()) await this.#ports.recovering(id).catch(() => {});
    });
  }

  async #recoverAbandoned(abandoned: readonly string[]): Promise<void> {
    const { claims, recovering } = this.#ports;
    await eachFewAtOnce(AT_ONCE, abandoned, async (id) => {
      await this.#recover(id, async () => {
        await recovering(id);
        await claims.disown(id);
      });
    });
    if (await claims.needsFullRecovery()) await this.#recoverAll();
  }

  /**
   * Checks every thread, not only those with a claim of a dead host. A power cut may have deleted claims, commits or
   * index rows.
   */
  async #recoverAll(): Promise<void> {
    const { journal, claims, recovering } = this.#ports;
    const known = await this.#ports.listed();
    const seen = new Set<string>();
    let failed = 0;
    const recover = async (id: string) => {
      if (!(await this.#recover(id, () => recovering(id)))) failed++;
    };
    await eachFewAtOnce(AT_ONCE, journal.threads(), async ({ id }) => {
      if (seen.has(id) || this.#ports.stopped()) return;
      seen.add(id);
      if (!(await this.#isInOrder(id, known.get(id)))) await recover(id);
    });
    await eachFewAtOnce(AT_ONCE, known.keys(), async (id) => {
      if (!seen.has(id) && !this.#ports.stopped()) await recover(id);
    });
    // If a check failed, the next host checks all threads again.
    if (!this.#ports.stopped() && failed === 0) await claims.markFullyRecovered();
  }

  /**
   * Whether a thread needs no recovery: its last load has ended, and the index is up to date. That holds for almost
   * all threads. To find out, the end of the journal is read, which is ten times cheaper than claiming the thread.
   */
  async #isInOrder(id: string, known: KnownThread | undefined): Promise<boolean> {
    try {
      const reader = await this.#ports.journal.read(id);
      if (reader === undefined) return false;
      try {
        const head = await readHead(reader);
        if (head === undefined || !isCaughtUp(head, reader.place, known)) return false;
        return this.#ports.stored.isOver(head.state);
      } finally {
        await reader.close();
      }
    } catch {
      // Opening the thread finds the same problem again and reports it.
      return false;
    }
  }

  /**
   * Recovers one thread. Calls `onMissing` if the thread does not exist. Returns false if the recovery has to be
   * repeated later.
   */
  async #recover(id: string, onMissing: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.#whileNotLoaded(id, async () => {
        await this.#closeLost(id).catch((cause: unknown) => {
          if (codeOf(cause) !== "noRollout") throw cause;
          return onMissing();
        });
      });
    } catch (cause) {
      const code = codeOf(cause);
      // Another host that started at the same time recovers the thread.
      if (code === "heldElsewhere") return true;
      this.#ports.supervisor.report(`closing the lost thread ${id}`, cause);
      // Only after a storage error may another attempt succeed.
      return code !== undefined && code !== "storageFailed";
    }
    return true;
  }

  /** Runs `work` if the thread is not loaded. A loaded thread needs no recovery, because loading recovers it. */
  async #whileNotLoaded(id: string, work: () => Promise<void>): Promise<void> {
    // A host that shuts down opens no thread. The claim stays, and the next host finds it.
    const { slots, stopped } = this.#ports;
    if (stopped()) return;
    await slots.settled<void>(
      id,
      () => {},
      () => (stopped() ? undefined : slots.occupy(id, work)),
    );
  }

  async #closeLost(id: string): Promise<void> {
    const held = await this.#ports.stored.open(id, ANYONE);
    if (outlives(held.head.state)) {
      await this.#ports.adopt(held);
    } else {
      await this.#ports.stored.end(held);
      await held.journal.close();
    }
  }
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Fault ? cause.code : undefined;
}
