import type { ThreadItem, UserInput } from "@bobbin/protocol";
import { Encoded } from "@bobbin/rpc";
import type { OutsideCall, RapEvent } from "../../core/rap/records.ts";
import { EVENT_TOOL, eventArguments } from "../../core/rap/tool-server-events.ts";
import type { ThreadRecord } from "../../core/records.ts";
import { isShell } from "../../core/terminals/decide.ts";
import type { CommandItem } from "../../core/terminals/records.ts";
import type { ContextEntry } from "../../core/turn/additional-context.ts";
import type { Blobs } from "../../core/turn/blobs.ts";
import type { Cut } from "../../core/turn/records.ts";
import type { ContextItem, ContextPart } from "../../model/model.ts";
import { cutMiddle } from "../../tool/exec/cut-middle.ts";
import { exactJson } from "../../tool/original-json-text.ts";
import { injectedItem } from "./injected-items.ts";
import { withValidMedia } from "./valid-media.ts";

type ToolOutput = Extract<ContextItem, { type: "toolOutput" }>;

/** The output that the model gets for a tool call without an output. */
const NO_ANSWER = "The call was given up before it had an answer.";

const SUMMARY_INTRODUCTION =
  "The conversation so far was longer than can be shown to you. What stands above are the user's last messages of it, and this is a summary of all of it, by the model that took part. Go on from there; do not do again what was done.";

/** Notes for the model after a message that was cut off, by the reason for the cut. */
const CUTS: { readonly [C in Cut]: string | undefined } = {
  fault: "The reply above broke off because the connection to the model was lost. Go on from where it ended.",
  interrupt: "The user interrupted the reply above.",
  // The user's new input follows immediately and needs no note.
  input: undefined,
};

/**
 * Builds the conversation for a model call from records, in a form that every provider accepts: each tool call has an
 * output, the outputs directly follow the answer with the calls, and reasoning comes before its result or is left
 * out.
 */
export async function conversation(
  history: readonly ThreadRecord[],
  /** The called provider. Opaque data of items (`carry`) is sent only to the provider that created the data. */
  provider: string,
  userParts: (
    content: readonly UserInput[],
    blobs: Blobs | undefined,
  ) => readonly ContextPart[] | Promise<readonly ContextPart[]>,
): Promise<readonly ContextItem[]> {
  const answer = new Answer();
  const injected: unknown[] = [];
  for (const record of history) {
    // Injected items are collected first, because two requests may inject a call and its output.
    if (record.type === "itemsInjected") {
      injected.push(...record.items);
      continue;
    }
    if (injected.length > 0) answer.injectAll(injected.splice(0));
    switch (record.type) {
      case "itemCompleted": {
        const { item, carry, cut, said } = record;
        if (item.type === "userMessage") {
          const partsOrPromise = userParts(item.content, record.blobs);
          // Most messages are text and need no await.
          const parts = partsOrPromise instanceof Promise ? await partsOrPromise : partsOrPromise;
          answer.addMessage({ type: "message", role: "user", parts, clientId: item.clientId });
        } else if (item.type === "hookPrompt")
          answer.addMessage(message("user", item.fragments.map(({ text }) => text).join("\n\n")));
        else if (isShell(item)) answer.addMessage(message("user", shellText(item)));
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
        for (const retained of record.kept) {
          if (retained.kind === "injected") {
            answer.inject(retained.item);
            continue;
          }
          answer.end();
          if (retained.kind === "context") answer.addContext(retained.entries);
          else if (retained.kind === "goal") answer.add(message("user", retained.text));
          else {
            const parts = await userParts(retained.content, retained.blobs);
            answer.addMessage({ type: "message", role: "user", parts, clientId: retained.clientId });
          }
        }
        answer.end();
        answer.add(message("user", `${SUMMARY_INTRODUCTION}\n\n${record.summary}`));
        break;
      case "contextGiven":
        answer.addContext(record.entries);
        break;
      case "hooksEnded":
        for (const text of record.outcome.contexts ?? []) answer.addHookContext(message("developer", text));
        break;
      case "callNoted":
        answer.addMessage(message("developer", record.text));
        break;
      case "terminalEnded": {
        const { item, note } = record;
        if (isShell(item)) answer.addMessage(message("user", shellText(item)));
        else if (note !== undefined) answer.addMessage(message("developer", note));
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
  if (injected.length > 0) answer.injectAll(injected);
  answer.end();
  return withValidMedia(answer.items);
}

/** The user message that shows the model a command that the user ran. */
function shellText({ command, exitCode, aggregatedOutput }: CommandItem): string {
  const output = cutMiddle(aggregatedOutput ?? "", SHELL_OUTPUT_TOKENS).text;
  return `I ran this command myself:\n${command}\nExit code: ${exitCode}\nOutput:\n${output}`;
}

/** Limit on the tokens of the output of a command that the user ran. */
const SHELL_OUTPUT_TOKENS = 10_000;

function modelItems(
  item: ThreadItem,
  { carry, cut, whole }: { carry: unknown; cut: Cut | undefined; whole: string | undefined },
): readonly ContextItem[] {
  switch (item.type) {
    case "plan":
    case "agentMessage": {
      // The message that proposed a plan contains the whole plan (`said`), so the plan's own item adds nothing.
      const text = whole ?? (item.type === "agentMessage" || cut !== undefined ? item.text : "");
      if (text === "") return [];
      const note = cut && CUTS[cut];
      const phase = item.type === "agentMessage" ? item.phase : null;
      const answerMessage = { ...message("assistant", text), ...(phase != null && { phase }) };
      return [answerMessage, ...(note === undefined ? [] : [message("developer", note)])];
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

/**
 * Orders the items of the conversation, answer by answer. A message that comes while calls of the answer have no
 * output is placed after the outputs.
 */
class Answer {
  readonly items: ContextItem[] = [];
  #calls: Extract<ContextItem, { type: "toolCall" }>[] = [];
  #outputs = new Map<string, ToolOutput>();
  #deferred: ContextItem[] = [];
  /** True from the start of a model call until its answer ends. */
  #running = false;

  begin(): void {
    this.end();
    this.#running = true;
  }

  /** Adds a message of a user or developer. If tool calls are pending, the message is placed after their outputs. */
  addMessage(message: ContextItem): void {
    if (this.#calls.every(({ callId }) => this.#outputs.has(callId))) {
      this.end();
      this.items.push(message);
    } else {
      this.#deferred.push(message);
    }
  }

  add(...items: readonly ContextItem[]): void {
    for (const item of items) {
      if (item.type === "toolCall") this.#calls.push(item);
      this.items.push(item);
    }
  }

  /** Adds context from hooks. If the answer has tool calls, the context is placed after their outputs. */
  addHookContext(message: ContextItem): void {
    (this.#calls.length === 0 ? this.items : this.#deferred).push(message);
  }

  /** Adds the additional context of an input. Untrusted entries become user messages with an `external_` tag. */
  addContext(entries: readonly ContextEntry[]): void {
    for (const { key, kind, value } of entries) {
      const own = kind === "application";
      const tag = own ? key : `external_${key}`;
      this.addMessage(message(own ? "developer" : "user", `<${tag}>${value}</${tag}>`));
    }
  }

  /** Adds items that clients injected. If the model is answering, they are placed after the answer. */
  injectAll(items: readonly unknown[]): void {
    const injected = new Answer();
    for (const item of items) injected.inject(item);
    injected.end();
    if (!this.#running) this.end();
    (this.#running ? this.#deferred : this.items).push(...injected.items);
  }

  inject(injected: unknown): void {
    const item = injectedItem(injected);
    if (item === undefined) return;
    if (item.type === "toolOutput") this.output(item.callId, item.output, item.success);
    else this.add(item);
  }

  /** Adds an event of a tool server in the form of a tool call with an output. The model made no such call. */
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
    // Providers refuse reasoning at the end of a conversation.
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
    this.items.push(...this.#deferred);
    this.#deferred = [];
    this.#calls = [];
    this.#outputs = new Map();
    this.#running = false;
  }
}

/**
 * The arguments of the tool call that represents an event. The original call's arguments keep the exact numbers that
 * the model wrote.
 */
function eventArgumentsJson(call: OutsideCall): string {
  const { original_args, ...others } = eventArguments(call);
  // Arguments that are not JSON are passed as text.
  const exact = typeof original_args === "string" ? undefined : exactJson(call.args, original_args);
  if (exact === undefined) return JSON.stringify({ ...others, original_args });
  return Encoded.with<Record<string, unknown>, string>(others, "original_args", new Encoded(exact)).json;
}
