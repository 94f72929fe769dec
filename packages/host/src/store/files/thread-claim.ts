import { fault } from "../../errors.ts";
import type { SharedJournalParts } from "./shared-journal-parts.ts";

const NOT_ASKED: Promise<unknown> = Promise.resolve();

/** This host's claim on one thread, until it is given back or another host takes over the thread. */
export class ThreadClaim {
  readonly #threadId: string;
  readonly #shared: SharedJournalParts;
  #isGivenBack = false;
  /** Whether another host has taken over the thread. */
  #isLost = false;
  /** The last answer of `isHeld`. */
  #lastHeld: Promise<unknown> = NOT_ASKED;

  constructor(threadId: string, shared: SharedJournalParts) {
    this.#threadId = threadId;
    this.#shared = shared;
  }

  get isGivenBack(): boolean {
    return this.#isGivenBack;
  }

  isHeld(): Promise<boolean> {
    const held = this.#lookWhetherHeld();
    // Reads of files do not end in the order in which they began, so each answer waits for the answer before it.
    const inOrder = this.#lastHeld.then(() => held);
    this.#lastHeld = inOrder;
    return inOrder;
  }

  async #lookWhetherHeld(): Promise<boolean> {
    // An unreadable claim does not mean that another host has the thread. The next append detects a loss.
    if (!this.#isLost && (await this.#shared.claims.isLost(this.#threadId).catch(() => false))) this.#lose();
    return !this.#isLost;
  }

  /** Called when another host has written to the journal. If that host has taken over the thread, the claim is lost. */
  async checkLoss(): Promise<void> {
    if (await this.#shared.claims.isLost(this.#threadId)) this.#lose();
  }

  #lose(): void {
    this.#isGivenBack = true;
    this.#isLost = true;
    this.#shared.lost(this.#threadId);
  }

  /** Throws if another host has taken over the thread. Only that host may move or remove the thread. */
  async mustHave(): Promise<void> {
    if (!(await this.isHeld())) throw fault("storageFailed", "another host has the thread");
  }

  giveBack(): void {
    this.#isGivenBack = true;
    this.#shared.claims.giveBack(this.#threadId);
  }
}
