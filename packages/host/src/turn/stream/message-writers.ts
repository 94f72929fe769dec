import type { MessagePhase } from "@bobbin/protocol";
import type { ModelEvent } from "../../model/model.ts";
import type { ItemWriter } from "./item-writer.ts";
import { agentMessage, plan } from "./model-items.ts";
import { type MessagePiece, PlanSplitter } from "./proposed-plan-splitter.ts";

export type MessageEvent = Extract<ModelEvent, { type: "messageStarted" | "messageDelta" | "messageDone" }>;

/** Writes the messages of an answer. There is one implementation per kind of turn. */
export interface MessageWriter {
  take(event: MessageEvent): void;
  /** The model calls a tool, so its last message so far is not the final one. */
  interrupted(): void;
  /** The answer is complete. In a code review, returns the review's text. */
  end(): string | undefined;
}

/** Writes messages as they arrive. */
export class LiveMessageWriter implements MessageWriter {
  readonly #writer: ItemWriter;

  constructor(writer: ItemWriter) {
    this.#writer = writer;
  }

  take(event: MessageEvent): void {
    const { itemId } = event;
    switch (event.type) {
      case "messageStarted":
        this.#writer.start(itemId, (times) => agentMessage(itemId, "", event.phase ?? null, times));
        break;
      case "messageDelta":
        say(this.#writer, itemId, event.text);
        break;
      case "messageDone":
        this.#writer.complete(itemId, (times) =>
          agentMessage(itemId, event.text, event.phase ?? null, times),
        );
        break;
    }
  }

  interrupted(): void {}

  end(): undefined {}
}

/** Writes messages in plan mode: a proposed plan becomes an item of its own. */
export class PlanMessageWriter implements MessageWriter {
  readonly #writer: ItemWriter;
  /** The number of plans that the turn has proposed. */
  #plans: number;
  #open: OpenMessage | undefined;

  constructor(writer: ItemWriter, plans: number) {
    this.#writer = writer;
    this.#plans = plans;
  }

  take(event: MessageEvent): void {
    switch (event.type) {
      case "messageStarted": {
        const { itemId, phase = null } = event;
        this.#open = {
          itemId,
          phase,
          splitter: new PlanSplitter(),
          begun: false,
          blank: "",
          planId: undefined,
        };
        break;
      }
      case "messageDelta":
        if (this.#open !== undefined) this.#show(this.#open, this.#open.splitter.push(event.text));
        break;
      case "messageDone":
        if (this.#open !== undefined) this.#done(this.#open, event.text);
        this.#open = undefined;
        break;
    }
  }

  interrupted(): void {}

  end(): undefined {}

  #show(open: OpenMessage, pieces: readonly MessagePiece[]): void {
    for (const { kind, text } of pieces) {
      if (kind === "plan") this.#growPlan(open, text);
      else this.#growText(open, text);
    }
  }

  #growPlan(open: OpenMessage, text: string): void {
    if (open.planId === undefined) {
      const { turnId } = this.#writer.sample;
      const itemId = this.#plans === 0 ? `${turnId}-plan` : `${turnId}-plan-${this.#plans + 1}`;
      this.#plans++;
      open.planId = itemId;
      this.#writer.start(itemId, (times) => plan(itemId, "", times));
    }
    this.#writer.text({ method: "item/plan/delta", params: this.#writer.params(open.planId) }, text);
  }

  /**
   * White space alone does not start a message. Otherwise a message that is only a plan would also appear as an empty
   * message.
   */
  #growText(open: OpenMessage, text: string): void {
    if (!open.begun && text.trim() === "") {
      open.blank += text;
      return;
    }
    if (!open.begun) this.#begin(open);
    say(this.#writer, open.itemId, text);
  }

  #begin(open: OpenMessage): void {
    const { itemId, phase, blank } = open;
    this.#writer.start(itemId, (times) => agentMessage(itemId, "", phase, times));
    say(this.#writer, itemId, blank);
    open.begun = true;
  }

  #done(open: OpenMessage, whole: string): void {
    const { splitter, itemId, phase } = open;
    this.#show(open, splitter.end());
    // A blank message without a plan is written, too.
    if (!open.begun && open.planId === undefined) this.#begin(open);
    const { planId, begun } = open;
    // The last item carries the model's whole text, including the plan (`said`), for later model calls.
    if (planId !== undefined) {
      const modelText = begun ? undefined : whole;
      this.#writer.complete(planId, (times) => plan(planId, splitter.plan ?? "", times), { said: modelText });
    }
    if (!begun) return;
    const messageText = splitter.text === whole ? undefined : whole;
    this.#writer.complete(itemId, (times) => agentMessage(itemId, splitter.text, phase, times), {
      said: messageText,
    });
  }
}

interface OpenMessage {
  readonly itemId: string;
  readonly phase: MessagePhase | null;
  readonly splitter: PlanSplitter;
  /** Whether the message's item was started. */
  begun: boolean;
  /** White space that arrived before the item was started. */
  blank: string;
  planId: string | undefined;
}

export function say(writer: ItemWriter, itemId: string, text: string): void {
  writer.text({ method: "item/agentMessage/delta", params: writer.params(itemId) }, text);
}
