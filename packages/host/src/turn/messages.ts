import type { MessagePhase } from "@bobbin/protocol";
import type { ModelEvent } from "../model/model.ts";
import type { ItemWriter } from "./item-writer.ts";
import { agentMessage, plan } from "./items.ts";
import { PlanSplitter, type Said } from "./proposed-plan.ts";

export type MessageEvent = Extract<ModelEvent, { type: "messageStarted" | "messageDelta" | "messageDone" }>;

/** What becomes of the messages in an answer. */
export interface Messages {
  take(event: MessageEvent): void;
  /** The model calls a tool, so what it has said so far is not its last word. */
  interrupted(): void;
  /** The last word, if it is not for clients as it is. */
  end(): string | undefined;
}

/** They are shown as they come. */
export class ShownMessages implements Messages {
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

/** Plans in them are items of their own. */
export class PlanningMessages implements Messages {
  readonly #writer: ItemWriter;
  /** How many the turn has proposed. */
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

  #show(open: OpenMessage, said: readonly Said[]): void {
    for (const { kind, text } of said) {
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

  /** A message that is all plan is not shown beside it: white space alone begins none. */
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
    // Whatever was said stands somewhere.
    if (!open.begun && open.planId === undefined) this.#begin(open);
    const { planId, begun } = open;
    // The model is given back what it said, with the plan where it stood; the last item has it.
    if (planId !== undefined) {
      const said = begun ? undefined : whole;
      this.#writer.complete(planId, (times) => plan(planId, splitter.plan ?? "", times), { said });
    }
    if (!begun) return;
    const said = splitter.text === whole ? undefined : whole;
    this.#writer.complete(itemId, (times) => agentMessage(itemId, splitter.text, phase, times), { said });
  }
}

interface OpenMessage {
  readonly itemId: string;
  readonly phase: MessagePhase | null;
  readonly splitter: PlanSplitter;
  /** Its item was begun. */
  begun: boolean;
  /** What came before that. */
  blank: string;
  planId: string | undefined;
}

export function say(writer: ItemWriter, itemId: string, text: string): void {
  writer.text({ method: "item/agentMessage/delta", params: writer.params(itemId) }, text);
}
