import type { ModelEvent } from "../../model/model.ts";
import { codeReviewText } from "./code-review-output.ts";
import type { ItemWriter } from "./item-writer.ts";
import { type MessageEvent, type MessageWriter, say } from "./message-writers.ts";
import { agentMessage } from "./model-items.ts";

/**
 * Writes the messages of a code review. Each message is delayed until another message or a tool call shows that it is
 * not the last one. The last message contains the findings as JSON; it is not written, and `end` returns its text.
 */
export class CodeReviewMessageWriter implements MessageWriter {
  readonly #writer: ItemWriter;
  #last: Extract<ModelEvent, { type: "messageDone" }> | undefined;

  constructor(writer: ItemWriter) {
    this.#writer = writer;
  }

  take(event: MessageEvent): void {
    if (event.type !== "messageDone") return;
    this.interrupted();
    this.#last = event;
  }

  interrupted(): void {
    if (this.#last === undefined) return;
    const { itemId, text, phase = null } = this.#last;
    this.#last = undefined;
    this.#writer.start(itemId, (times) => agentMessage(itemId, "", phase, times));
    say(this.#writer, itemId, text);
    this.#writer.complete(itemId, (times) => agentMessage(itemId, text, phase, times));
  }

  end(): string {
    return codeReviewText(this.#last?.text ?? "");
  }
}
