import { outlives } from "../core/turn/restart.ts";
import { Fault } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Slots } from "./slots.ts";
import { ANYONE, type Held, type Stored } from "./stored.ts";

export interface RecoveryPorts {
  readonly journal: Journal;
  readonly stored: Stored;
  readonly slots: Slots;
  readonly supervisor: Supervisor;
  /** The index is brought to what the thread's journal says, if there is one. */
  recovering(threadId: string): Promise<void>;
  /** Every thread that lists know of. */
  listed(): Promise<readonly string[]>;
  /** Takes a thread as it is; nobody follows it. */
  adopt(held: Held): Promise<void>;
  /** This host is just making it: there is nothing to make good. */
  starting(threadId: string): boolean;
  /** The host is about to end. */
  stopped(): boolean;
}

/** What a start does about hosts that ended without saying so. */
export class Recovery {
  readonly #ports: RecoveryPorts;

  constructor(ports: RecoveryPorts) {
    this.#ports = ports;
  }

  /** Threads that their host did not close go on where they can, and are closed now where they can not. */
  async run(): Promise<void> {
    const { journal, recovering } = this.#ports;
    for (const id of await journal.abandoned()) {
      await this.#recover(id, async () => {
        await recovering(id);
        await journal.disown(id);
      });
    }
    if (await journal.lostPower()) await this.#recoverAll();
  }

  /** After a power cut no claim is sure to be left: every thread is looked at, and everything that is listed. */
  async #recoverAll(): Promise<void> {
    const { journal, recovering } = this.#ports;
    const seen = new Set<string>();
    let failed = 0;
    const look = async (id: string) => {
      if (seen.has(id) || this.#ports.stopped()) return;
      seen.add(id);
      if (!(await this.#recover(id, () => recovering(id)))) failed++;
    };
    for await (const { id } of journal.threads()) await look(id);
    for (const id of await this.#ports.listed()) await look(id);
    // What could not be looked at is looked at by the next start.
    if (!this.#ports.stopped() && failed === 0) await journal.madeGood();
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
