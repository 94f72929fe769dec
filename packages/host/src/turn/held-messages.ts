import type { ModelEvent } from "../model/model.ts";
import type { ItemWriter } from "./item-writer.ts";
import { agentMessage } from "./items.ts";
import { type MessageEvent, type Messages, say } from "./messages.ts";
import { reviewText } from "./review-output.ts";

/** For a reviewer: its last word is not for people as it is, and which one is the last is known at the end. */
export class HeldMessages implements Messages {
  readonly #writer: ItemWriter;
  #held: Extract<ModelEvent, { type: "messageDone" }> | undefined;

  constructor(writer: ItemWriter) {
    this.#writer = writer;
  }

  take(event: MessageEvent): void {
    if (event.type !== "messageDone") return;
    this.interrupted();
    this.#held = event;
  }

  interrupted(): void {
    if (this.#held === undefined) return;
    const { itemId, text, phase = null } = this.#held;
    this.#held = undefined;
    this.#writer.start(itemId, (times) => agentMessage(itemId, "", phase, times));
    say(this.#writer, itemId, text);
    this.#writer.complete(itemId, (times) => agentMessage(itemId, text, phase, times));
  }

  end(): string {
    return reviewText(this.#held?.text ?? "");
  }
}
