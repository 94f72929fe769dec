import { outlives } from "../core/turn/restart.ts";
import { Fault } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Slots } from "./slots.ts";
import type { Held, Stored } from "./stored.ts";

export interface RecoveryPorts {
  readonly journal: Journal;
  readonly stored: Stored;
  readonly slots: Slots;
  readonly supervisor: Supervisor;
  /** What that host did not get to write of a thread has to be made good; tells whether its load has no end. */
  recovering(threadId: string): Promise<{ readonly open: boolean }>;
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
    const { journal } = this.#ports;
    for (const id of await journal.abandoned()) await this.#recover(id, (lost) => this.#closeLost(lost));
    if (await journal.lostPower()) await this.#recoverAll();
  }

  /** After a power cut no claim is sure to be left: every thread is looked at, and everything that is listed. */
  async #recoverAll(): Promise<void> {
    const { journal } = this.#ports;
    const seen = new Set<string>();
    let failed = 0;
    const look = async (id: string) => {
      if (seen.has(id) || this.#ports.stopped()) return;
      seen.add(id);
      const madeGood = await this.#recover(id, async (lost) => {
        if ((await this.#ports.recovering(lost)).open) await this.#closeLost(lost);
      });
      if (!madeGood) failed++;
    };
    for await (const { id } of journal.threads()) await look(id);
    for (const id of await this.#ports.listed()) await look(id);
    // What could not be looked at is looked at by the next start.
    if (!this.#ports.stopped() && failed === 0) await journal.madeGood();
  }

  /** False if it is as it was, and nobody else looks after it. */
  async #recover(id: string, work: (id: string) => Promise<void>): Promise<boolean> {
    try {
      await this.#whileNotLoaded(id, work);
    } catch (cause) {
      const code = cause instanceof Fault ? cause.code : undefined;
      if (code === "noRollout") await this.#ports.journal.disown(id);
      // Another host, started at the same time, was quicker.
      else if (code !== "heldElsewhere") {
        this.#ports.supervisor.report(`closing the lost thread ${id}`, cause);
        // A journal that is not for this program is none to wait for.
        return code !== undefined && code !== "storageFailed";
      }
    }
    return true;
  }

  /** Whoever has loaded it in the meantime has made good what was lost; whoever has only changed it has not. */
  async #whileNotLoaded(id: string, work: (id: string) => Promise<void>): Promise<void> {
    for (;;) {
      // A host that ends takes nothing more; its claim stays, for the next start to find.
      if (this.#ports.stopped() || this.#ports.starting(id)) return;
      const { slots } = this.#ports;
      const slot = slots.get(id);
      if (slot?.kind === "loaded") {
        // In its mailbox: a deletion that came in between would be followed by what we read before it.
        const madeGood = slot.actor.during(async () => void (await this.#ports.recovering(id)));
        if (
          await madeGood.then(
            () => true,
            () => false,
          )
        )
          return;
        // One that takes nothing more, and stays.
        if (slots.get(id) === slot) return void (await this.#ports.recovering(id));
        continue;
      }
      if (slot === undefined) return slots.occupy(id, () => work(id));
      await slot.done;
    }
  }

  async #closeLost(id: string): Promise<void> {
    // While nobody else can get at it: what the index is told must not be older than what it knows.
    await this.#ports.recovering(id);
    const held = await this.#ports.stored.open(id, () => {});
    if (outlives(held.head.state)) {
      await this.#ports.adopt(held);
    } else {
      await this.#ports.stored.end(held);
      await held.journal.close();
    }
  }
}
