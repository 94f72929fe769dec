// One acknowledged call, from the acknowledgement until its result is delivered.
import type { DisplaySegment, Invocation, ReturnAddress, ToolResult } from "../wire/index.ts";
import type { LiveSubscription } from "./live-subscription.ts";
import { type Platform, pause } from "./platform.ts";
import type { Store } from "./store.ts";
import { StoreEntry } from "./store-entry.ts";
import { type AbortReason, CallAborted } from "./tool.ts";
import { ToolError } from "./tool-result.ts";

/** A question that a call has put to the user. */
export interface ChoiceRecord {
  /** Last path segment of the URL that the answer is posted to. */
  readonly token: string;
  readonly sent: boolean;
  readonly selected?: number;
}

/** The stored state of a call. It survives a restart of the server, and is deleted when the result is delivered. */
export interface CallRecord {
  readonly tenant: string;
  /** Base URL of the server in the request that brought the call. */
  readonly base: string;
  readonly invocation: Invocation;
  /** `waiting`: the tool waits for a person. Such a call has done nothing yet, so it may run again after a restart. */
  readonly phase: "running" | "waiting";
  /** Questions in the order in which the tool asks them. Null for a question that a remembered answer settled. */
  readonly choices: readonly (ChoiceRecord | null)[];
  /** Names of the OAuth providers that the user was asked to authorize. */
  readonly authorizations: readonly string[];
  readonly result?: ToolResult;
}

/** Key of a call in the store. Two requests with the same key are the same call, sent twice. */
export const callKey = (tenant: string, { group_id, id, callback_url }: ReturnAddress): string =>
  `call ${JSON.stringify([tenant, group_id, id, callback_url])}`;

export class Call {
  readonly key: string;
  readonly #platform: Platform;
  readonly #entry: StoreEntry;
  readonly #over = new AbortController();
  #record: CallRecord;
  #questions = 0;
  /** Number of answers that the tool is waiting for. */
  #waits = 0;
  #clock: { readonly cancel: () => void; readonly until: number } | undefined;
  #msLeft = Number.POSITIVE_INFINITY;
  display: readonly DisplaySegment[] = [];
  subscription: LiveSubscription | undefined;

  constructor(platform: Platform, store: Store, record: CallRecord) {
    this.#platform = platform;
    this.#record = record;
    this.key = callKey(record.tenant, record.invocation);
    this.#entry = new StoreEntry(store, this.key);
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

  /** Index of the next question. A tool that runs again after a restart asks in the same order. */
  nextChoice(): number {
    return this.#questions++;
  }

  choice(index: number): ChoiceRecord | undefined {
    return this.#record.choices[index] ?? undefined;
  }

  async saveChoice(index: number, choice: ChoiceRecord): Promise<void> {
    const { choices } = this.#record;
    const length = Math.max(choices.length, index + 1);
    await this.save({
      choices: Array.from({ length }, (_, at) => (at === index ? choice : (choices[at] ?? null))),
    });
  }

  /** Starts the time limit: the call is aborted after `ms` milliseconds, not counting waits for people. */
  startClock(ms: number): void {
    this.#msLeft = ms;
    this.#resumeClock();
  }

  stopClock(): void {
    if (this.#clock === undefined) return;
    this.#msLeft = this.#clock.until - this.#platform.now();
    this.#clock.cancel();
    this.#clock = undefined;
  }

  /**
   * Asks a person and waits for the answer, for at most `ms` milliseconds; then throws a ToolError with the text
   * `late`. The call's own time limit is paused meanwhile.
   */
  async waiting<T>(ms: number, late: string, answer: Promise<T>, ask: () => Promise<void>): Promise<T> {
    // The answer may reject before it is awaited below. That must not count as an unhandled rejection.
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
        this.#resumeClock();
      }
      done.abort();
    }
  }

  #resumeClock(): void {
    if (!Number.isFinite(this.#msLeft) || this.#clock !== undefined) return;
    const cancel = this.#platform.after(this.#msLeft, () => this.abort("timedOut"));
    this.#clock = { cancel, until: this.#platform.now() + this.#msLeft };
  }
}
