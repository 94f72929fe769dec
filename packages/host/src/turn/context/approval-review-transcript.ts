import type { FunctionCallOutputBody, UserInput } from "@bobbin/protocol";
import type { ThreadRecord } from "../../core/records.ts";
import { isShell } from "../../core/terminals/decide.ts";
import { cutMiddle } from "../../tool/exec/cut-middle.ts";

/** One message, tool call or tool result, and who it is from. */
export interface TranscriptEntry {
  readonly by:
    | "user"
    | "parentAgent"
    | "client"
    | "agent"
    | "toolCall"
    | "toolResult"
    | "toolServer"
    | "summary";
  readonly tool?: string;
  readonly text: string;
}

export interface Transcript {
  readonly entries: readonly TranscriptEntry[];
  /** The number of entries that were left out because they did not fit. */
  readonly omitted: number;
}

/** Limits per entry, in tokens. Messages have the larger one, because the user's words decide what is authorized. */
const SAID_TOKENS = 2000;
const TOOL_TOKENS = 1000;
/**
 * Limits on all entries together, in characters. Messages of the user and the client have a limit of their own, so
 * that tool outputs cannot displace them.
 */
const SAID_CHARACTERS = 40_000;
const OTHER_CHARACTERS = 40_000;
const OTHER_ENTRIES = 40;

/**
 * The transcript for the reviewer of an approval: the newest entries that fit, oldest first. `isChild`: the thread is
 * a helper, so its user messages come from the parent agent.
 */
export function transcriptOf(history: readonly ThreadRecord[], isChild: boolean): Transcript {
  const all = history.flatMap((record) => entriesOf(record, isChild ? "parentAgent" : "user"));
  const taken: TranscriptEntry[] = [];
  let messageRoom = SAID_CHARACTERS;
  let other = OTHER_CHARACTERS;
  let entries = OTHER_ENTRIES;
  for (const entry of all.toReversed()) {
    const isSaid = entry.by === "user" || entry.by === "client";
    const room = isSaid ? messageRoom : entries > 0 ? other : 0;
    if (entry.text.length > room) continue;
    if (isSaid) messageRoom -= entry.text.length;
    else {
      other -= entry.text.length;
      entries--;
    }
    taken.push(entry);
  }
  return { entries: taken.toReversed(), omitted: all.length - taken.length };
}

function entriesOf(record: ThreadRecord, user: "user" | "parentAgent"): readonly TranscriptEntry[] {
  switch (record.type) {
    case "itemCompleted": {
      const { item } = record;
      if (item.type === "userMessage") return [{ by: user, text: cut(wordsOf(item.content), SAID_TOKENS) }];
      if (item.type === "agentMessage" || item.type === "plan")
        return item.text === "" ? [] : [{ by: "agent", text: cut(item.text, SAID_TOKENS) }];
      if (isShell(item)) return [{ by: user, text: cut(`(ran a command) ${item.command}`, SAID_TOKENS) }];
      return [];
    }
    case "toolCalled": {
      const { name, arguments: text } = record.call;
      return [{ by: "toolCall", tool: name, text: cut(text, TOOL_TOKENS) }];
    }
    case "toolAnswered":
      return [{ by: "toolResult", text: cut(outputOf(record.output), TOOL_TOKENS) }];
    case "eventInjected":
      return [
        {
          by: "toolServer",
          tool: record.event.call.tool,
          text: cut(outputOf(record.event.output), TOOL_TOKENS),
        },
      ];
    case "itemsInjected":
      return record.items.map((item) => ({ by: "client", text: cut(JSON.stringify(item), SAID_TOKENS) }));
    case "compacted":
      return [
        ...record.kept.flatMap((retained): readonly TranscriptEntry[] => {
          if (retained.kind === "user")
            return [{ by: user, text: cut(wordsOf(retained.content), SAID_TOKENS) }];
          if (retained.kind === "injected")
            return [{ by: "client", text: cut(JSON.stringify(retained.item), SAID_TOKENS) }];
          return [];
        }),
        { by: "summary", text: cut(record.summary, SAID_TOKENS) },
      ];
    default:
      return [];
  }
}

function wordsOf(content: readonly UserInput[]): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

function outputOf(output: FunctionCallOutputBody): string {
  if (typeof output === "string") return output;
  return output.map((part) => ("text" in part ? part.text : `[${part.type}]`)).join("\n");
}

function cut(text: string, tokens: number): string {
  return cutMiddle(text, tokens).text;
}
