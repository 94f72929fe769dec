import { outlives } from "../core/turn/restart.ts";
import { Fault } from "../errors.ts";
import { isCaughtUp } from "../journal/index/journal-rows.ts";
import type { KnownThread } from "../journal/index/thread-index.ts";
import type { Journal } from "../journal/journal.ts";
import { recall } from "../journal/recall.ts";
import type { Supervisor } from "../observe/supervise.ts";
import { eachFewAtOnce } from "../platform/few-at-once.ts";
import type { Slots } from "./slots.ts";
import { ANYONE, type Held, type Stored } from "./stored.ts";

export interface RecoveryPorts {
  readonly journal: Journal;
  readonly stored: Stored;
  readonly slots: Slots;
  readonly supervisor: Supervisor;
  /** The index is brought to what the thread's journal says, if there is one. */
  recovering(threadId: string): Promise<void>;
  /** How far lists know each thread. */
  listed(): Promise<ReadonlyMap<string, KnownThread>>;
  /** Takes a thread as it is; nobody follows it. */
  adopt(held: Held): Promise<void>;
  /** This host is just making it: there is nothing to make good. */
  starting(threadId: string): boolean;
  /** The host is about to end. */
  stopped(): boolean;
}

/** Threads that are looked at beside each other: one alone would wait for the disk most of the time. */
const AT_ONCE = 16;

/** What a start does about hosts that ended without saying so. */
export class Recovery {
  readonly #ports: RecoveryPorts;

  constructor(ports: RecoveryPorts) {
    this.#ports = ports;
  }

  /** Threads that their host did not close go on where they can, and are closed now where they can not. */
  async run(): Promise<void> {
    const { journal, recovering } = this.#ports;
    await eachFewAtOnce(AT_ONCE, await journal.abandoned(), async (id) => {
      await this.#recover(id, async () => {
        await recovering(id);
        await journal.disown(id);
      });
    });
    if (await journal.lostPower()) await this.#recoverAll();
  }

  /** After a power cut no claim is sure to be left: every thread is looked at, and everything that is listed. */
  async #recoverAll(): Promise<void> {
    const { journal, recovering } = this.#ports;
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
    // What could not be looked at is looked at by the next start.
    if (!this.#ports.stopped() && failed === 0) await journal.madeGood();
  }

  /**
   * Whether nothing was lost of a thread: its last load has an end, and the index knows all of it. That is so of almost
   * all, and costs one look at the end of the journal; taking the thread for it would cost ten times as much.
   */
  async #isInOrder(id: string, known: KnownThread | undefined): Promise<boolean> {
    try {
      const reader = await this.#ports.journal.read(id);
      if (reader === undefined) return false;
      try {
        const head = await recall(reader);
        if (head === undefined || !isCaughtUp(head, reader.place, known)) return false;
        return this.#ports.stored.isOver(head.state);
      } finally {
        await reader.close();
      }
    } catch {
      // Whatever is wrong with it is found again, and told, when it is taken.
      return false;
    }
  }

  /** `gone`: there is no such thread, whatever lists and claims say. False if nothing was done, and nobody else will. */
  async #recover(id: string, gone: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.#whileNotLoaded(id, async () => {
        await this.#closeLost(id).catch((cause: unknown) => {
          if (codeOf(cause) !== "noRollout") throw cause;
          return gone();
        });
      });
    } catch (cause) {
      const code = codeOf(cause);
      // Another host, started at the same time, was quicker.
      if (code === "heldElsewhere") return true;
      this.#ports.supervisor.report(`closing the lost thread ${id}`, cause);
      // A journal that is not for this program is none to wait for.
      return code !== undefined && code !== "storageFailed";
    }
    return true;
  }

  /** Whoever has loaded it in the meantime has made good what was lost. */
  async #whileNotLoaded(id: string, work: () => Promise<void>): Promise<void> {
    for (;;) {
      // A host that ends takes nothing more; its claim stays, for the next start to find.
      if (this.#ports.stopped() || this.#ports.starting(id)) return;
      const { slots } = this.#ports;
      const slot = slots.get(id);
      if (slot?.kind === "loaded") return;
      if (slot === undefined) return slots.occupy(id, work);
      await slot.done;
    }
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
