import type { RateLimitSnapshot, ThreadItem } from "@bobbin/protocol";
import type { RunningText } from "../../core/turn/item-texts.ts";
import type { Clock } from "../../platform/platform.ts";
import type { Actor } from "../../thread/actor.ts";
import type { Times } from "./model-items.ts";

/** One model call. */
export interface Sample {
  readonly turnId: string;
  readonly attempt: number;
  /** The ID of the provider that is called. */
  readonly provider: string;
  /** Receives the rate limits that the provider reports. */
  limits(snapshot: RateLimitSnapshot): void;
}

/** Writes the items of one answer to the thread: text immediately, starts and completions as commands. */
export class ItemWriter {
  readonly sample: Sample;
  readonly #actor: Actor;
  readonly #clock: Clock;
  readonly #starts = new Map<string, number>();

  constructor(actor: Actor, clock: Clock, sample: Sample) {
    this.#actor = actor;
    this.#clock = clock;
    this.sample = sample;
  }

  /** The parameters of an item's delta notifications. */
  params(itemId: string): { readonly turnId: string; readonly itemId: string } {
    return { turnId: this.sample.turnId, itemId };
  }

  text(text: RunningText, delta: string): void {
    this.#actor.text(text, delta);
  }

  start(itemId: string, item: (times: Times) => ThreadItem): void {
    const at = this.#clock.now();
    this.#starts.set(itemId, at);
    const { turnId, attempt } = this.sample;
    const begun = item({ startedAtMs: at, completedAtMs: null });
    this.#actor.offer({ kind: "itemStarted", at, turnId, attempt, item: begun });
  }

  /**
   * `carry`: opaque data that the provider wants back with the item. `said`: the model's text, if the item has
   * another one.
   */
  complete(
    itemId: string,
    item: (times: Times) => ThreadItem,
    { carry, said }: { readonly carry?: unknown; readonly said?: string | undefined } = {},
  ): void {
    const at = this.#clock.now();
    const { turnId, attempt, provider } = this.sample;
    this.#actor.offer({
      kind: "itemCompleted",
      at,
      turnId,
      attempt,
      item: item({ startedAtMs: this.#starts.get(itemId) ?? at, completedAtMs: at }),
      ...(carry !== undefined && { carry: { provider, data: carry } }),
      ...(said !== undefined && { said }),
    });
  }

  call(call: Extract<Parameters<Actor["offer"]>[0], { kind: "toolCalled" }>["call"]): void {
    const { turnId, attempt } = this.sample;
    this.#actor.offer({ kind: "toolCalled", at: this.#clock.now(), turnId, attempt, call });
  }

  limits(limits: RateLimitSnapshot): void {
    this.sample.limits(limits);
    this.#actor.tell("account/rateLimits/updated", { rateLimits: limits });
  }

  servedBy(model: string): void {
    const { turnId, attempt } = this.sample;
    this.#actor.offer({ kind: "modelServed", at: this.#clock.now(), turnId, attempt, model });
  }
}
