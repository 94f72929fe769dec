import type { ThreadItem, UserInput } from "@bobbin/protocol";
import { Encoded } from "@bobbin/rpc";
import { EVENT_TOOL, eventArguments } from "../core/rap/events.ts";
import type { OutsideCall, RapEvent } from "../core/rap/records.ts";
import type { ThreadRecord } from "../core/records.ts";
import { isShell } from "../core/terminals/decide.ts";
import type { CommandItem } from "../core/terminals/records.ts";
import type { Blobs } from "../core/turn/blobs.ts";
import type { ContextEntry } from "../core/turn/given-context.ts";
import type { Cut } from "../core/turn/records.ts";
import type { ContextItem, ContextPart } from "../model/model.ts";
import { exactJson } from "../tool/exact-json.ts";
import { cutMiddle } from "../tool/exec/cut-middle.ts";
import { injectedItem } from "./injected.ts";
import { withSoundMedia } from "./shown-media.ts";

type ToolOutput = Extract<ContextItem, { type: "toolOutput" }>;

/** What a call is answered with whose tool never did. */
const NO_ANSWER = "The call was given up before it had an answer.";

const SUMMARY_INTRODUCTION =
  "The conversation so far was longer than can be shown to you. What stands above are the user's last messages of it, and this is a summary of all of it, by the model that took part. Go on from there; do not do again what was done.";

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
  userParts: (
    content: readonly UserInput[],
    blobs: Blobs | undefined,
  ) => readonly ContextPart[] | Promise<readonly ContextPart[]>,
): Promise<readonly ContextItem[]> {
  const answer = new Answer();
  const put: unknown[] = [];
  for (const record of past) {
    // A call may be put in by one request, and its output by the next.
    if (record.type === "itemsInjected") {
      put.push(...record.items);
      continue;
    }
    if (put.length > 0) answer.putIn(put.splice(0));
    switch (record.type) {
      case "itemCompleted": {
        const { item, carry, cut, said } = record;
        if (item.type === "userMessage") {
          const given = userParts(item.content, record.blobs);
          // Most are words, which nobody has to wait for.
          const parts = given instanceof Promise ? await given : given;
          answer.hear({ type: "message", role: "user", parts, clientId: item.clientId });
        } else if (isShell(item)) answer.hear(message("user", shellText(item)));
        else
          answer.add(
            ...modelItems(item, {
              carry: carry?.provider === provider ? carry.data : undefined,
              cut,
              whole: said,
            }),
          );
        break;
      }
      case "toolCalled":
        answer.add({ type: "toolCall", ...record.call });
        break;
      case "toolAnswered":
        answer.output(record.callId, record.output, record.success);
        break;
      case "compacted":
        for (const kept of record.kept) {
          if (kept.kind === "injected") {
            answer.inject(kept.item);
            continue;
          }
          answer.end();
          if (kept.kind === "context") answer.given(kept.entries);
          else if (kept.kind === "goal") answer.add(message("user", kept.text));
          else {
            const parts = await userParts(kept.content, kept.blobs);
            answer.hear({ type: "message", role: "user", parts, clientId: kept.clientId });
          }
        }
        answer.end();
        answer.add(message("user", `${SUMMARY_INTRODUCTION}\n\n${record.summary}`));
        break;
      case "contextGiven":
        answer.given(record.entries);
        break;
      case "callNoted":
        answer.hear(message("developer", record.text));
        break;
      case "terminalEnded": {
        const { item, note } = record;
        if (isShell(item)) answer.hear(message("user", shellText(item)));
        else if (note !== undefined) answer.hear(message("developer", note));
        break;
      }
      case "eventInjected":
        answer.event(record.event);
        break;
      case "goalContext":
        answer.end();
        answer.add(message("user", record.text));
        break;
      case "sampleRequested":
        answer.begin();
        break;
      case "turnEnded":
        answer.end();
        break;
    }
  }
  if (put.length > 0) answer.putIn(put);
  answer.end();
  return withSoundMedia(answer.items);
}

/** What the model is shown of a command that the user ran. */
function shellText({ command, exitCode, aggregatedOutput }: CommandItem): string {
  const output = cutMiddle(aggregatedOutput ?? "", SHELL_OUTPUT_TOKENS).text;
  return `I ran this command myself:\n${command}\nExit code: ${exitCode}\nOutput:\n${output}`;
}

/** How much of the output of a user's command the model is shown. */
const SHELL_OUTPUT_TOKENS = 10_000;

function modelItems(
  item: ThreadItem,
  { carry, cut, whole }: { carry: unknown; cut: Cut | undefined; whole: string | undefined },
): readonly ContextItem[] {
  switch (item.type) {
    case "plan":
    case "agentMessage": {
      // A plan that is whole stands in the message that proposes it.
      const text = whole ?? (item.type === "agentMessage" || cut !== undefined ? item.text : "");
      if (text === "") return [];
      const note = cut && CUTS[cut];
      const phase = item.type === "agentMessage" ? item.phase : null;
      const said = { ...message("assistant", text), ...(phase != null && { phase }) };
      return [said, ...(note === undefined ? [] : [message("developer", note)])];
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
  /** The model may have more to say in it. */
  #running = false;

  begin(): void {
    this.end();
    this.#running = true;
  }

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

  /** What a client said beside input; what nobody vouches for is said to come from outside. */
  given(entries: readonly ContextEntry[]): void {
    for (const { key, kind, value } of entries) {
      const own = kind === "application";
      const tag = own ? key : `external_${key}`;
      this.hear(message(own ? "developer" : "user", `<${tag}>${value}</${tag}>`));
    }
  }

  /** What clients put into the history does not come between what the model says at once. */
  putIn(given: readonly unknown[]): void {
    const put = new Answer();
    for (const item of given) put.inject(item);
    put.end();
    if (!this.#running) this.end();
    (this.#running ? this.#held : this.items).push(...put.items);
  }

  inject(given: unknown): void {
    const item = injectedItem(given);
    if (item === undefined) return;
    if (item.type === "toolOutput") this.output(item.callId, item.output, item.success);
    else this.add(item);
  }

  /** What nobody called for is shown as a call that was answered. */
  event({ id: callId, call, output, success }: RapEvent): void {
    this.end();
    const args = eventArgumentsJson(call);
    this.add({
      type: "toolCall",
      callId,
      name: EVENT_TOOL,
      namespace: null,
      arguments: args,
      kind: "function",
    });
    this.output(callId, output, success);
    this.end();
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
    this.#running = false;
  }
}

/** The arguments of the call that a model did not make, with the numbers of the call that it did. */
function eventArgumentsJson(call: OutsideCall): string {
  const { original_args, ...others } = eventArguments(call);
  // Arguments that are no JSON are a text.
  const exact = typeof original_args === "string" ? undefined : exactJson(call.args, original_args);
  if (exact === undefined) return JSON.stringify({ ...others, original_args });
  return Encoded.with<Record<string, unknown>, string>(others, "original_args", new Encoded(exact)).json;
}
