// All calls that were acknowledged. None is lost: each is written down before it is acknowledged, and forgotten
// when its result has arrived.
import type { Invocation, ReturnAddress, ToolResult } from "../wire/index.ts";
import type { Background } from "./background.ts";
import { Call, type CallRecord, callKey } from "./call.ts";
import type { DeliverOptions, Delivery } from "./deliver.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { told } from "./log.ts";
import { type PerformGround, perform } from "./perform.ts";
import { pause } from "./platform.ts";
import { Recent } from "./recent.ts";
import { failure, type Outcome, resultMessage } from "./result.ts";
import { sendable } from "./sendable.ts";
import type { Store } from "./store.ts";
import { threadKey } from "./thread-scope.ts";
import type { Threads } from "./threads.ts";
import type { AbortReason } from "./tool.ts";

export interface CallsOptions extends PerformGround {
  readonly store: Store;
  readonly threads: Threads;
  readonly background: Background;
  /** Calls that may be under way at once. */
  readonly max: number;
  /** The store ends with the process, and no call can be taken up again. */
  readonly volatile: boolean;
}

const RESTARTED = "The tool server was restarted meanwhile. Whether the call has had an effect is not known.";
/** For words that nobody may wait for. */
const REJECT_MS = 3_600_000;

export class Calls {
  readonly #options: CallsOptions;
  readonly #active = new Map<string, Call>();
  /** By their threads: hosts tell of every thread that closes, and most have none. */
  readonly #byThread = new Map<string, Set<Call>>();
  /** Calls that are over, by what they asked for. */
  readonly #recent = new Recent<string>(10_000);
  /** Deliveries under way; each its own, because a signal is not made for a crowd of listeners. */
  readonly #deliveries = new Set<AbortController>();
  #stopped: (() => void) | undefined;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Takes up what the last process has left. The returned function begins. */
  async load(): Promise<() => void> {
    const { platform, store } = this.#options;
    for (const [, value] of await store.list("call "))
      this.#add(new Call(platform, store, JSON.parse(value) as CallRecord));
    const left = [...this.#active.values()];
    return () => {
      for (const call of left) this.#begin(call, () => this.#takeUp(call));
    };
  }

  #takeUp(call: Call): Promise<void> {
    if (call.record.result !== undefined) return this.#deliver(call, call.record.result);
    return this.#mayRunAgain(call) ? this.#run(call) : this.#settle(call, failure(RESTARTED));
  }

  /** A call that waits for a person has done nothing yet; one that changes nothing, or the same again, does no harm. */
  #mayRunAgain({ record, invocation }: Call): boolean {
    const annotations = this.#options.tools.get(invocation.operation)?.tool.annotations;
    return record.phase === "waiting" || annotations?.idempotent === true || annotations?.readOnly === true;
  }

  /** Whether a result is still to come for this address. */
  isActive(tenant: string, address: ReturnAddress): boolean {
    return this.#active.has(callKey(tenant, address));
  }

  /**
   * Resolves when the call is kept; it goes on by itself. `full`: not now. `taken`: its id is that of a call that asks for
   * something else. Throws if it can not be kept.
   */
  async accept(tenant: string, base: string, invocation: Invocation): Promise<"accepted" | "full" | "taken"> {
    const { platform, store, max } = this.#options;
    const record: CallRecord = {
      tenant,
      base,
      invocation,
      phase: "running",
      choices: [],
      authorizations: [],
    };
    const call = new Call(platform, store, record);
    const before = this.#active.get(call.key);
    const known = before === undefined ? this.#recent.get(call.key) : fingerprintOf(before.invocation);
    if (known !== undefined) return this.#repeated(invocation, known);
    if (this.#active.size >= max || this.#stopped !== undefined) return "full";
    this.#add(call);
    try {
      await call.save();
    } catch (error) {
      this.#remove(call);
      throw error;
    }
    this.#begin(call, () => this.#run(call));
    return "accepted";
  }

  /** A host that did not hear the acknowledgement sends again, and wants one result. */
  #repeated(invocation: Invocation, known: string): "accepted" | "taken" {
    if (known === fingerprintOf(invocation)) return "accepted";
    const { group_id: thread, id, operation } = invocation;
    // An error as its result would be taken for that of the first call.
    this.#options.log({
      level: "warn",
      says: "refused a call with the id of another one",
      thread,
      id,
      operation,
    });
    return "taken";
  }

  /** A call that can not be read has a result too, if it says where to. The ids in the address may be anything. */
  reject(address: ReturnAddress, words: string): void {
    void this.#options.background.run("refusing a call", async () => {
      const message = resultMessage(address, failure(words), false);
      this.#note(address, await this.#send(address, message, { giveUpAfterMs: REJECT_MS }));
    });
  }

  /** Those of a thread, or one of them, are told to stop. An id that nobody knows is no news. */
  abort(reason: AbortReason, tenant: string, thread: string, id?: string): void {
    for (const call of this.#byThread.get(threadKey(tenant, thread)) ?? [])
      if (id === undefined || call.invocation.id === id) call.abort(reason);
  }

  /** Lets calls end by themselves for a while. What does not is told to, and some of it is left for the next start. */
  async stop(graceMs: number): Promise<void> {
    const idle = new AbortController();
    this.#stopped = () => this.#active.size === 0 && idle.abort();
    this.#stopped();
    await pause(this.#options.platform, graceMs, idle.signal);
    for (const call of this.#active.values()) call.abort("shutdown");
    for (const delivery of this.#deliveries) delivery.abort();
  }

  #begin(call: Call, work: () => Promise<void>): void {
    void this.#options.background.run("a call", async () => {
      try {
        await work();
      } finally {
        this.#remove(call);
      }
    });
  }

  async #run(call: Call): Promise<void> {
    const { threads } = this.#options;
    const scope = threads.enter(call.record.tenant, call.invocation.group_id);
    let performed: Awaited<ReturnType<typeof perform>>;
    try {
      performed = await perform(this.#options, call, scope);
    } finally {
      threads.leave(scope);
    }
    if (!performed.ok && call.abortReason === "shutdown" && this.#isLeft(call)) return;
    await this.#settle(call, performed.outcome, performed.ok);
  }

  /** For the next start, which knows better what came of it. */
  #isLeft(call: Call): boolean {
    return !this.#options.volatile && this.#mayRunAgain(call);
  }

  async #settle(call: Call, outcome: Outcome, ok = false): Promise<void> {
    const { subscription } = call;
    const begun = subscription !== undefined && ok && !subscription.signal.aborted;
    const named = begun ? withId(outcome, subscription.id) : outcome;
    const { message, problem } = sendable(resultMessage(call.invocation, named, begun));
    if (problem !== undefined) {
      const { group_id: thread, id } = call.invocation;
      this.#options.log({ level: "error", says: "a result can not be sent as it is", thread, id, problem });
    }
    if (subscription !== undefined && !message.subscription) await subscription.end();
    await this.#deliver(call, message);
  }

  async #deliver(call: Call, result: ToolResult): Promise<void> {
    const { subscriptions } = this.#options;
    // Hardly anybody waits for what was cancelled, and nobody waits for a process that ends.
    const wanted = call.abortReason === undefined || call.abortReason === "timedOut";
    const options = {
      ...(!wanted && { giveUpAfterMs: 0 }),
      // Most results are taken at once, and need not be written down.
      delayed: () => this.#keep(call, result),
    };
    const first = await this.#send(call.invocation, result, options);
    const delivery = isUnfit(first) ? await this.#sendRefusal(call.invocation, first.status, options) : first;
    if (delivery.kind === "aborted") return this.#keep(call, result);
    // It is written down, and the next start tries again.
    if (delivery.kind === "gaveUp" && call.abortReason === "shutdown" && !this.#options.volatile) return;
    this.#note(call.invocation, delivery);
    if (result.subscription) {
      const subscription = subscriptions.find(call.record.tenant, call.invocation);
      if (first.kind !== "delivered") await subscription?.end();
      else if (subscription !== undefined) {
        await subscription.confirm();
        subscriptions.go(subscription);
      }
    }
    this.#recent.add(call.key, fingerprintOf(call.invocation));
    await call.forget();
  }

  /** The model waits for something: that its host does not take the result is a result too. */
  async #sendRefusal(
    address: ReturnAddress,
    status: number,
    options: Pick<DeliverOptions, "giveUpAfterMs" | "delayed">,
  ): Promise<Delivery> {
    this.#note(address, { kind: "refused", status });
    const words = `The tool has finished, but its result was refused with status ${status}. It may be too large, or of a form that is not taken.`;
    return this.#send(address, resultMessage(address, failure(words), false), options);
  }

  /** A disk that is full does not keep a result from being sent. */
  async #keep(call: Call, result: ToolResult): Promise<void> {
    await call.save({ result }).catch((error: unknown) => {
      this.#options.log({ level: "error", says: "a result could not be kept", error: told(error) });
    });
  }

  async #send(
    { callback_url }: ReturnAddress,
    message: ToolResult,
    options: Pick<DeliverOptions, "giveUpAfterMs" | "delayed">,
  ): Promise<Delivery> {
    const delivery = new AbortController();
    this.#deliveries.add(delivery);
    try {
      return await this.#options.delivering.deliver(callback_url, message, {
        ...options,
        signal: delivery.signal,
      });
    } finally {
      this.#deliveries.delete(delivery);
    }
  }

  #note({ group_id, id }: ReturnAddress, delivery: Delivery): void {
    if (delivery.kind === "delivered") return;
    const { kind: how, ...more } = delivery;
    this.#options.log({
      level: "error",
      says: "a result did not arrive",
      thread: group_id,
      id,
      how,
      ...more,
    });
  }

  #add(call: Call): void {
    this.#active.set(call.key, call);
    const thread = threadKey(call.record.tenant, call.invocation.group_id);
    this.#byThread.set(thread, (this.#byThread.get(thread) ?? new Set()).add(call));
  }

  #remove(call: Call): void {
    this.#active.delete(call.key);
    const thread = threadKey(call.record.tenant, call.invocation.group_id);
    const others = this.#byThread.get(thread);
    others?.delete(call);
    if (others?.size === 0) this.#byThread.delete(thread);
    this.#stopped?.();
  }
}

/** The host took offence at the message itself, and may take another one. */
function isUnfit(delivery: Delivery): delivery is Extract<Delivery, { kind: "refused" }> {
  return delivery.kind === "refused" && [400, 413, 422].includes(delivery.status);
}

/** A model that wants to cancel a subscription has to know what it is called. */
function withId(outcome: Outcome, id: string): Outcome {
  const line = `Subscription ID: ${id}`;
  const said = [
    outcome.text,
    ...(outcome.content ?? []).map((item) => (item.type === "text" ? item.text : "")),
  ];
  if (said.some((text) => text?.includes(id))) return outcome;
  if (outcome.content !== undefined)
    return { ...outcome, content: [...outcome.content, { type: "text", text: line }] };
  return { ...outcome, text: `${outcome.text}\n${line}` };
}
