import type { ThreadItem } from "@bobbin/protocol";
import type { SampleOutcome } from "../core/commands.ts";
import type { ModelEvent } from "../model/model.ts";
import type { Clock } from "../platform/platform.ts";
import type { Actor } from "../thread/actor.ts";
import { agentMessage, reasoning, type Times, webSearch } from "./items.ts";

type Answered = Extract<SampleOutcome, { kind: "done" }>;

interface Sample {
  readonly turnId: string;
  readonly attempt: number;
  /** Whose model speaks. */
  readonly provider: string;
}

/** Takes one answer of a model to the thread: what it says at once, what it has said as commands. */
export class AnswerWriter {
  readonly #actor: Actor;
  readonly #clock: Clock;
  readonly #sample: Sample;
  readonly #starts = new Map<string, number>();

  constructor(actor: Actor, clock: Clock, sample: Sample) {
    this.#actor = actor;
    this.#clock = clock;
    this.#sample = sample;
  }

  /** One event; the last one gives the outcome, with what it says of trying again left as it is. */
  take(event: ModelEvent): Extract<ModelEvent, { type: "failed" }> | Answered | undefined {
    switch (event.type) {
      case "messageStarted":
        this.#start(event.itemId, (times) => agentMessage(event.itemId, "", event.phase ?? null, times));
        return undefined;
      case "messageDelta":
        this.#actor.text(
          { method: "item/agentMessage/delta", params: this.#params(event.itemId) },
          event.text,
        );
        return undefined;
      case "messageDone":
        this.#complete(event.itemId, (times) =>
          agentMessage(event.itemId, event.text, event.phase ?? null, times),
        );
        return undefined;
      case "reasoningStarted":
        this.#start(event.itemId, (times) => reasoning(event.itemId, { summary: [], content: [] }, times));
        return undefined;
      case "reasoningSummaryDelta":
        this.#actor.text(
          {
            method: "item/reasoning/summaryTextDelta",
            params: { ...this.#params(event.itemId), summaryIndex: event.index },
            part: `summary ${event.index}`,
            opening: "item/reasoning/summaryPartAdded",
          },
          event.text,
        );
        return undefined;
      case "reasoningTextDelta":
        this.#actor.text(
          {
            method: "item/reasoning/textDelta",
            params: { ...this.#params(event.itemId), contentIndex: event.index },
            part: `content ${event.index}`,
          },
          event.text,
        );
        return undefined;
      case "reasoningDone":
        this.#complete(event.itemId, (times) => reasoning(event.itemId, event, times), event.carry);
        return undefined;
      case "webSearchStarted":
        this.#start(event.itemId, (times) => webSearch(event.itemId, { query: "", action: null }, times));
        return undefined;
      case "webSearchDone":
        this.#complete(event.itemId, (times) => webSearch(event.itemId, event, times), event.carry);
        return undefined;
      case "toolCall": {
        const { turnId, attempt } = this.#sample;
        this.#actor.offer({ kind: "toolCalled", at: this.#clock.now(), turnId, attempt, call: event.call });
        return undefined;
      }
      case "done":
        return { kind: "done", usage: event.usage, contextWindow: event.contextWindow };
      case "failed":
        return event;
    }
  }

  #params(itemId: string): { readonly turnId: string; readonly itemId: string } {
    return { turnId: this.#sample.turnId, itemId };
  }

  #start(itemId: string, item: (times: Times) => ThreadItem): void {
    const at = this.#clock.now();
    this.#starts.set(itemId, at);
    const { turnId, attempt } = this.#sample;
    const begun = item({ startedAtMs: at, completedAtMs: null });
    this.#actor.offer({ kind: "itemStarted", at, turnId, attempt, item: begun });
  }

  #complete(itemId: string, item: (times: Times) => ThreadItem, carry?: unknown): void {
    const at = this.#clock.now();
    const { turnId, attempt, provider } = this.#sample;
    this.#actor.offer({
      kind: "itemCompleted",
      at,
      turnId,
      attempt,
      item: item({ startedAtMs: this.#starts.get(itemId) ?? at, completedAtMs: at }),
      ...(carry !== undefined && { carry: { provider, data: carry } }),
    });
  }
}
