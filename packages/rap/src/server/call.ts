// One call that was acknowledged, until its result has arrived.
import type { DisplaySegment, Invocation, ReturnAddress, ToolResult } from "../wire/index.ts";
import { Entry } from "./entry.ts";
import { type Platform, pause } from "./platform.ts";
import { ToolError } from "./result.ts";
import type { Store } from "./store.ts";
import type { LiveSubscription } from "./subscription.ts";
import { type AbortReason, CallAborted } from "./tool.ts";

/** Something that a user was asked. */
export interface AskedChoice {
  /** The end of the address where the answer is expected. */
  readonly token: string;
  readonly sent: boolean;
  readonly selected?: number;
}

/** What outlives the process. It is gone when the result has arrived. */
export interface CallRecord {
  readonly tenant: string;
  /** The base URL under which it came. */
  readonly base: string;
  readonly invocation: Invocation;
  /** A call that waits for a person has not done anything yet, and may begin again after a restart. */
  readonly phase: "running" | "waiting";
  /** By the order in which they come; null for those that were remembered, and so never asked. */
  readonly choices: readonly (AskedChoice | null)[];
  /** Names of the authorizations that were asked for. */
  readonly authorizations: readonly string[];
  readonly result?: ToolResult;
}

/** The same call twice is one that was sent twice. */
export const callKey = (tenant: string, { group_id, id, callback_url }: ReturnAddress): string =>
  `call ${JSON.stringify([tenant, group_id, id, callback_url])}`;

export class Call {
  readonly key: string;
  readonly #platform: Platform;
  readonly #entry: Entry;
  readonly #over = new AbortController();
  #record: CallRecord;
  #asked = 0;
  #waits = 0;
  #clock: { readonly cancel: () => void; readonly until: number } | undefined;
  #left = Number.POSITIVE_INFINITY;
  display: readonly DisplaySegment[] = [];
  subscription: LiveSubscription | undefined;

  constructor(platform: Platform, store: Store, record: CallRecord) {
    this.#platform = platform;
    this.#record = record;
    this.key = callKey(record.tenant, record.invocation);
    this.#entry = new Entry(store, this.key);
  }

  get record(): CallRecord {
    return this.#record;
  }
  get invocation(): Invocation {
    return this.#record.invocation;
  }
  get signal(): AbortSignal {
    return this.#over.signal;
  }
  get abortReason(): AbortReason | undefined {
    return this.signal.aborted ? (this.signal.reason as CallAborted).why : undefined;
  }

  abort(reason: AbortReason): void {
    this.#over.abort(new CallAborted(reason));
  }

  async save(change: Partial<CallRecord> = {}): Promise<void> {
    this.#record = { ...this.#record, ...change };
    await this.#entry.write(this.#record);
  }

  async forget(): Promise<void> {
    await this.#entry.remove();
  }

  /** Which of the questions of this call comes now; the same order at every run. */
  nextChoice(): number {
    return this.#asked++;
  }

  choice(index: number): AskedChoice | undefined {
    return this.#record.choices[index] ?? undefined;
  }

  async saveChoice(index: number, choice: AskedChoice): Promise<void> {
    const { choices } = this.#record;
    const length = Math.max(choices.length, index + 1);
    await this.save({
      choices: Array.from({ length }, (_, at) => (at === index ? choice : (choices[at] ?? null))),
    });
  }

  /** Counts the time from now on; the call is aborted when it is over. */
  startClock(ms: number): void {
    this.#left = ms;
    this.#resume();
  }

  stopClock(): void {
    if (this.#clock === undefined) return;
    this.#left = this.#clock.until - this.#platform.now();
    this.#clock.cancel();
    this.#clock = undefined;
  }

  /** While a person is asked. */
  async waiting<T>(ms: number, late: string, answer: Promise<T>, ask: () => Promise<void>): Promise<T> {
    // Whoever awaits it comes later than an early answer.
    answer.catch(() => {});
    if (this.#waits++ === 0) {
      this.stopClock();
      await this.save({ phase: "waiting" });
    }
    const done = new AbortController();
    const stop = (): void => done.abort();
    this.signal.addEventListener("abort", stop, { once: true });
    try {
      await ask();
      const timer = pause(this.#platform, ms, done.signal).then((ended) => {
        if (ended === "aborted") this.signal.throwIfAborted();
        throw new ToolError(late);
      });
      return await Promise.race([answer, timer]);
    } finally {
      this.signal.removeEventListener("abort", stop);
      if (--this.#waits === 0 && this.abortReason !== "shutdown") {
        await this.save({ phase: "running" });
        this.#resume();
      }
      done.abort();
    }
  }

  #resume(): void {
    if (!Number.isFinite(this.#left) || this.#clock !== undefined) return;
    const cancel = this.#platform.after(this.#left, () => this.abort("timedOut"));
    this.#clock = { cancel, until: this.#platform.now() + this.#left };
  }
}
