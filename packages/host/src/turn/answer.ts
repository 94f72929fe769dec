import type { SampleOutcome } from "../core/commands.ts";
import type { ModelEvent } from "../model/model.ts";
import type { ItemWriter } from "./item-writer.ts";
import { reasoning, webSearch } from "./items.ts";
import type { Messages } from "./messages.ts";

type Answered = Extract<SampleOutcome, { kind: "done" }>;

/** Takes one answer of a model to the thread: what it says at once, what it has said as commands. */
export class AnswerWriter {
  readonly #writer: ItemWriter;
  readonly #messages: Messages;
  #called = false;

  constructor(writer: ItemWriter, messages: Messages) {
    this.#writer = writer;
    this.#messages = messages;
  }

  /** One event; the last one gives the outcome, with what it says of trying again left as it is. */
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
