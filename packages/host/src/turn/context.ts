import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadRecord } from "../core/records.ts";
import type { Cut } from "../core/turn/records.ts";
import type { ContextItem, ContextPart } from "../model/model.ts";
import { injectedItem } from "./injected.ts";

type ToolOutput = Extract<ContextItem, { type: "toolOutput" }>;
type UserMessage = Extract<ThreadItem, { type: "userMessage" }>;

/** What a call is answered with whose tool never did. */
const NO_ANSWER = "The call was given up before it had an answer.";

const CUTS: { readonly [C in Cut]: string | undefined } = {
  fault: "The reply above broke off because the connection to the model was lost. Go on from where it ended.",
  interrupt: "The user interrupted the reply above.",
  // What the user said instead comes right behind it.
  input: undefined,
};

/**
 * The conversation as every adapter takes it: each tool call has its output, outputs come right behind the answer
 * that asked for them, and reasoning stands before what it led to, or not at all.
 */
export async function conversation(
  past: readonly ThreadRecord[],
  /** Only what it gave itself may be sent back to it. */
  provider: string,
  userParts: (message: UserMessage) => readonly ContextPart[] | Promise<readonly ContextPart[]>,
): Promise<readonly ContextItem[]> {
  const answer = new Answer();
  for (const record of past) {
    switch (record.type) {
      case "itemCompleted": {
        const { item, carry, cut } = record;
        if (item.type === "userMessage") {
          const given = userParts(item);
          // Most are words, which nobody has to wait for.
          const parts = given instanceof Promise ? await given : given;
          answer.hear({ type: "message", role: "user", parts, clientId: item.clientId });
        } else answer.add(...modelItems(item, carry?.provider === provider ? carry.data : undefined, cut));
        break;
      }
      case "toolCalled":
        answer.add({ type: "toolCall", ...record.call });
        break;
      case "toolAnswered":
        answer.output(record.callId, record.output, record.success);
        break;
      case "itemsInjected":
        answer.end();
        for (const item of record.items.map(injectedItem)) {
          if (item.type === "toolOutput") answer.output(item.callId, item.output, item.success);
          else answer.add(item);
        }
        answer.end();
        break;
      case "goalContext":
        answer.end();
        answer.add(message("user", record.text));
        break;
      case "sampleRequested":
      case "turnEnded":
        answer.end();
        break;
    }
  }
  answer.end();
  return answer.items;
}

function modelItems(item: ThreadItem, carry: unknown, cut: Cut | undefined): readonly ContextItem[] {
  switch (item.type) {
    case "agentMessage": {
      if (item.text === "") return [];
      const note = cut && CUTS[cut];
      return [message("assistant", item.text), ...(note === undefined ? [] : [message("developer", note)])];
    }
    case "reasoning":
      return carry === undefined ? [] : [{ type: "reasoning", summary: item.summary, carry }];
    case "webSearch":
      return carry === undefined ? [] : [{ type: "raw", item: carry }];
    default:
      return [];
  }
}

export function message(role: "user" | "assistant" | "developer", text: string): ContextItem {
  return { type: "message", role, parts: [{ type: "text", text }] };
}

/** One answer of the model at a time. */
class Answer {
  readonly items: ContextItem[] = [];
  #calls: Extract<ContextItem, { type: "toolCall" }>[] = [];
  #outputs = new Map<string, ToolOutput>();
  #held: ContextItem[] = [];

  /** What users say while tools are at work comes behind what those answer. */
  hear(message: ContextItem): void {
    if (this.#calls.every(({ callId }) => this.#outputs.has(callId))) {
      this.end();
      this.items.push(message);
    } else {
      this.#held.push(message);
    }
  }

  add(...items: readonly ContextItem[]): void {
    for (const item of items) {
      if (item.type === "toolCall") this.#calls.push(item);
      this.items.push(item);
    }
  }

  output(callId: string, output: ToolOutput["output"], success: boolean): void {
    this.#outputs.set(callId, { type: "toolOutput", callId, kind: "function", output, success });
  }

  end(): void {
    // Providers refuse reasoning that led to nothing.
    while (this.items.at(-1)?.type === "reasoning") this.items.pop();
    for (const { callId, kind } of this.#calls) {
      const answered = this.#outputs.get(callId);
      this.items.push({
        type: "toolOutput",
        callId,
        output: answered?.output ?? NO_ANSWER,
        success: answered?.success ?? false,
        kind,
      });
    }
    this.items.push(...this.#held);
    this.#held = [];
    this.#calls = [];
    this.#outputs = new Map();
  }
}
