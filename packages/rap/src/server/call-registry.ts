// All acknowledged calls of a tool server. A call is stored before it is acknowledged and deleted after its result is
// delivered, so that no acknowledged call is lost.
import type { Invocation, ReturnAddress, ToolResult } from "../wire/index.ts";
import type { BackgroundWork } from "./background-work.ts";
import { Call, type CallRecord, callKey } from "./call.ts";
import { fingerprintOf } from "./call-fingerprint.ts";
import type { DeliverOptions, Delivery } from "./callback-sender.ts";
import { errorText } from "./log.ts";
import { pause } from "./platform.ts";
import { RecentMap } from "./recent-map.ts";
import { type RunToolDeps, runTool } from "./run-tool.ts";
import { toSendable } from "./sendable-result.ts";
import type { Store } from "./store.ts";
import type { ThreadRegistry } from "./thread-registry.ts";
import { threadKey } from "./thread-scope.ts";
import type { AbortReason } from "./tool.ts";
import { failure, type Outcome, resultMessage } from "./tool-result.ts";

export interface CallRegistryOptions extends RunToolDeps {
  readonly store: Store;
  readonly threads: ThreadRegistry;
  readonly background: BackgroundWork;
  /** Limit on concurrent calls. */
  readonly max: number;
  /** Whether the store is lost when the process ends, so that no call can be resumed after a restart. */
  readonly volatile: boolean;
}

const RESTARTED = "The tool server was restarted meanwhile. Whether the call has had an effect is not known.";
/** Time limit for delivering the error for an invalid call. Its host may not wait for it at all. */
const REJECT_MS = 3_600_000;

export class CallRegistry {
  readonly #options: CallRegistryOptions;
  readonly #active = new Map<string, Call>();
  /** Index by thread. Hosts send a notice for every closed thread, and most of those have no calls here. */
  readonly #byThread = new Map<string, Set<Call>>();
  /** Fingerprints of finished calls, by call key, to recognize a repeated request. */
  readonly #recent = new RecentMap<string>(10_000);
  /** Running deliveries. Each has its own controller, because one signal should not have thousands of listeners. */
  readonly #deliveries = new Set<AbortController>();
  /** Set by `stop`. Called after each finished call, to notice when no call is left. */
  #stopped: (() => void) | undefined;

  constructor(options: CallRegistryOptions) {
    this.#options = options;
  }

  /** Loads the calls of the last process from the store. The returned function resumes them. */
  async load(): Promise<() => void> {
    const { platform, store } = this.#options;
    for (const [, value] of await store.list("call "))
      this.#add(new Call(platform, store, JSON.parse(value) as CallRecord));
    const left = [...this.#active.values()];
    return () => {
      for (const call of left) this.#begin(call, () => this.#resume(call));
    };
  }

  #resume(call: Call): Promise<void> {
    if (call.record.result !== undefined) return this.#deliver(call, call.record.result);
    return this.#mayRunAgain(call) ? this.#run(call) : this.#settle(call, failure(RESTARTED));
  }

  /**
   * A call may run again if it has done nothing yet (it waits for a person), or if its tool declares that repetition
   * does no harm.
   */
  #mayRunAgain({ record, invocation }: Call): boolean {
    const annotations = this.#options.tools.get(invocation.operation)?.tool.annotations;
    return record.phase === "waiting" || annotations?.idempotent === true || annotations?.readOnly === true;
  }

  /** Whether the call with this return address still has no delivered result. */
  isActive(tenant: string, address: ReturnAddress): boolean {
    return this.#active.has(callKey(tenant, address));
  }

  /**
   * Stores a call and starts it. Resolves when the call is stored, with `full` if the limit of concurrent calls is
   * reached or the server is stopping, or with `taken` if another call with different arguments has the same id.
   * Rejects if the store fails.
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

  /** A host that missed the acknowledgement sends the call again. The call then still runs once and has one result. */
  #repeated(invocation: Invocation, known: string): "accepted" | "taken" {
    if (known === fingerprintOf(invocation)) return "accepted";
    const { group_id: thread, id, operation } = invocation;
    // No error result is sent, because the host would take it for the result of the first call.
    this.#options.log({
      level: "warn",
      says: "refused a call whose id belongs to another call with different arguments",
      thread,
      id,
      operation,
    });
    return "taken";
  }

  /**
   * Sends an error as the result of an invalid call. The ids in the address are unchecked and sent back as they came.
   */
  reject(address: ReturnAddress, words: string): void {
    void this.#options.background.run("refusing a call", async () => {
      const message = resultMessage(address, failure(words), false);
      this.#logFailure(address, await this.#send(address, message, { giveUpAfterMs: REJECT_MS }));
    });
  }

  /** Aborts the calls of a thread, or the one with `id`. Does nothing for unknown ids. */
  abort(reason: AbortReason, tenant: string, thread: string, id?: string): void {
    for (const call of this.#byThread.get(threadKey(tenant, thread)) ?? [])
      if (id === undefined || call.invocation.id === id) call.abort(reason);
  }

  /**
   * Waits up to `graceMs` for running calls, then aborts them. Calls that may run again stay stored for the next start.
   */
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
    let performed: Awaited<ReturnType<typeof runTool>>;
    try {
      performed = await runTool(this.#options, call, scope);
    } finally {
      threads.leave(scope);
    }
    if (!performed.ok && call.abortReason === "shutdown" && this.#isLeftForRestart(call)) return;
    await this.#settle(call, performed.outcome, performed.ok);
  }

  /** Whether an aborted call stays in the store, to run again at the next start. */
  #isLeftForRestart(call: Call): boolean {
    return !this.#options.volatile && this.#mayRunAgain(call);
  }

  async #settle(call: Call, outcome: Outcome, ok = false): Promise<void> {
    const { subscription } = call;
    const begun = subscription !== undefined && ok && !subscription.signal.aborted;
    const named = begun ? withId(outcome, subscription.id) : outcome;
    const { message, problem } = toSendable(resultMessage(call.invocation, named, begun));
    if (problem !== undefined) {
      const { group_id: thread, id } = call.invocation;
      this.#options.log({
        level: "error",
        says: "a tool's result is not valid and was changed",
        thread,
        id,
        problem,
      });
    }
    if (subscription !== undefined && !message.subscription) await subscription.end();
    await this.#deliver(call, message);
  }

  async #deliver(call: Call, result: ToolResult): Promise<void> {
    const { subscriptions } = this.#options;
    // The result of an aborted call is sent only once, without retries, unless the call was aborted by its time limit.
    const wanted = call.abortReason === undefined || call.abortReason === "timedOut";
    const options = {
      ...(!wanted && { giveUpAfterMs: 0 }),
      // The result is stored only if the first attempt fails: most results are delivered at once.
      delayed: () => this.#saveResult(call, result),
    };
    const first = await this.#send(call.invocation, result, options);
    const delivery = isMessageRejected(first)
      ? await this.#sendRefusal(call.invocation, first.status, options)
      : first;
    if (delivery.kind === "aborted") return this.#saveResult(call, result);
    // The result is stored, and the next start delivers it.
    if (delivery.kind === "gaveUp" && call.abortReason === "shutdown" && !this.#options.volatile) return;
    this.#logFailure(call.invocation, delivery);
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

  /** Replaces a result that the host refused by an error result, because the model still waits for one. */
  async #sendRefusal(
    address: ReturnAddress,
    status: number,
    options: Pick<DeliverOptions, "giveUpAfterMs" | "delayed">,
  ): Promise<Delivery> {
    this.#logFailure(address, { kind: "refused", status });
    const words = `The tool has finished, but the host refused its result with status ${status}. It may be too large, or of a form that is not accepted.`;
    return this.#send(address, resultMessage(address, failure(words), false), options);
  }

  /** Logs a failure of the store: a full disk must not prevent the delivery. */
  async #saveResult(call: Call, result: ToolResult): Promise<void> {
    await call.save({ result }).catch((error: unknown) => {
      this.#options.log({ level: "error", says: "a result could not be stored", error: errorText(error) });
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
      return await this.#options.sender.deliver(callback_url, message, {
        ...options,
        signal: delivery.signal,
      });
    } finally {
      this.#deliveries.delete(delivery);
    }
  }

  #logFailure({ group_id, id }: ReturnAddress, delivery: Delivery): void {
    if (delivery.kind === "delivered") return;
    const { kind: how, ...more } = delivery;
    this.#options.log({
      level: "error",
      says: "a result was not delivered to its host",
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

/** Whether the host refused the message itself (its form or size), so that it may accept another one. */
function isMessageRejected(delivery: Delivery): delivery is Extract<Delivery, { kind: "refused" }> {
  return delivery.kind === "refused" && [400, 413, 422].includes(delivery.status);
}

/** Adds the subscription's id to the result, unless it is there: the model needs it to cancel the subscription. */
function withId(outcome: Outcome, id: string): Outcome {
  const line = `Subscription ID: ${id}`;
  const texts = [
    outcome.text,
    ...(outcome.content ?? []).map((item) => (item.type === "text" ? item.text : "")),
  ];
  if (texts.some((text) => text?.includes(id))) return outcome;
  if (outcome.content !== undefined)
    return { ...outcome, content: [...outcome.content, { type: "text", text: line }] };
  return { ...outcome, text: `${outcome.text}\n${line}` };
}
