import type { SampleOutcome } from "../../core/turn/commands.ts";
import type { ModelEvent } from "../../model/model.ts";
import type { ItemWriter } from "./item-writer.ts";
import type { MessageWriter } from "./message-writers.ts";
import { reasoning, webSearch } from "./model-items.ts";

type Answered = Extract<SampleOutcome, { kind: "done" }>;

/** Writes one answer of a model to the thread: deltas as live text, completed items and tool calls as commands. */
export class AnswerWriter {
  readonly #writer: ItemWriter;
  readonly #messages: MessageWriter;
  #called = false;

  constructor(writer: ItemWriter, messages: MessageWriter) {
    this.#writer = writer;
    this.#messages = messages;
  }

  /** Writes one event. Returns the outcome for the last event; a failure is returned as the model reported it. */
  take(event: ModelEvent): Extract<ModelEvent, { type: "failed" }> | Answered | undefined {
    switch (event.type) {
      case "messageStarted":
      case "messageDelta":
      case "messageDone":
        this.#messages.take(event);
        return undefined;
      case "reasoningStarted":
        this.#writer.start(event.itemId, (times) =>
          reasoning(event.itemId, { summary: [], content: [] }, times),
        );
        return undefined;
      case "reasoningSummaryDelta":
        this.#writer.text(
          {
            method: "item/reasoning/summaryTextDelta",
            params: { ...this.#writer.params(event.itemId), summaryIndex: event.index },
            part: `summary ${event.index}`,
            opening: "item/reasoning/summaryPartAdded",
          },
          event.text,
        );
        return undefined;
      case "reasoningTextDelta":
        this.#writer.text(
          {
            method: "item/reasoning/textDelta",
            params: { ...this.#writer.params(event.itemId), contentIndex: event.index },
            part: `content ${event.index}`,
          },
          event.text,
        );
        return undefined;
      case "reasoningDone": {
        const { carry } = event;
        this.#writer.complete(event.itemId, (times) => reasoning(event.itemId, event, times), { carry });
        return undefined;
      }
      case "webSearchStarted":
        this.#writer.start(event.itemId, (times) => webSearch(event.itemId, event.action, times));
        return undefined;
      case "webSearchDone": {
        const { carry } = event;
        this.#writer.complete(event.itemId, (times) => webSearch(event.itemId, event.action, times), {
          carry,
        });
        return undefined;
      }
      case "hiddenDelta":
        return undefined;
      case "toolCall":
        this.#called = true;
        this.#messages.interrupted();
        this.#writer.call(event.call);
        return undefined;
      case "rateLimits":
        this.#writer.limits(event.limits);
        return undefined;
      case "servedBy":
        this.#writer.servedBy(event.model);
        return undefined;
      case "done": {
        if (this.#called) this.#messages.interrupted();
        const review = this.#messages.end();
        const { usage, contextWindow } = event;
        return { kind: "done", usage, contextWindow, ...(review !== undefined && { review }) };
      }
      case "failed":
        return event;
    }
  }
}
