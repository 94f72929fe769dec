import type { UserInput } from "@bobbin/protocol";
import type { ThreadRecord } from "../../core/records.ts";
import { textCharacters, textTokens } from "../../core/turn/context-size.ts";
import type { Retained } from "../../core/turn/records.ts";
import { injectedItem } from "./injected-items.ts";

/** Limit on the tokens of user messages that a compaction retains, and on those of injected items. */
const RETAINED_TOKENS = 20_000;
/** The same limit as a share of the conversation's token limit. It applies to models with small context windows. */
const RETAINED_SHARE = 0.15;

type UserMessage = Extract<Retained, { kind: "user" }>;

/**
 * The parts of a conversation that remain after a compaction, oldest first. Retained whatever their length: user
 * messages, goal and context of the running turn, and injected developer messages, which are instructions. Retained
 * within a limit: earlier user messages, as text that may be cut, and other injected items.
 */
export function retainedBy(
  covered: readonly ThreadRecord[],
  turnId: string,
  /** Limit on the tokens of the conversation. */
  limit: number,
): readonly Retained[] {
  const most = textCharacters(Math.min(RETAINED_TOKENS, Math.floor(limit * RETAINED_SHARE)));
  const budget = { user: most, injected: most };
  return candidates(covered)
    .toReversed()
    .flatMap((retained): Retained[] => {
      if (retained.kind === "goal" || retained.kind === "context")
        return retained.turnId === turnId ? [retained] : [];
      if (retained.kind === "user" && retained.turnId === turnId) return [retained];
      if (isInstruction(retained)) return [retained];
      const left = budget[retained.kind];
      const size = sizeOf(retained);
      budget[retained.kind] = size <= left ? left - size : 0;
      if (retained.kind === "injected") return size <= left ? [retained] : [];
      const text = asText(retained.content);
      if (text === "" || left === 0) return [];
      return [{ ...retained, content: [textInput(size <= left ? text : `${text.slice(0, left)} […]`)] }];
    })
    .reverse();
}

/** Everything that a compaction could retain. */
function candidates(covered: readonly ThreadRecord[]): readonly Retained[] {
  return covered.flatMap((record): readonly Retained[] => {
    switch (record.type) {
      case "compacted":
        return record.kept;
      case "goalContext":
        return [{ kind: "goal", turnId: record.turnId, text: record.text }];
      case "contextGiven":
        return [{ kind: "context", turnId: record.turnId, entries: record.entries }];
      case "itemsInjected":
        return record.items.map((item) => ({ kind: "injected", item }));
      case "itemCompleted": {
        const { item, turnId, blobs } = record;
        if (item.type !== "userMessage") return [];
        const { content, clientId } = item;
        return [{ kind: "user", turnId, content, clientId, ...(blobs && { blobs }) }];
      }
      default:
        return [];
    }
  });
}

function isInstruction(retained: Retained): boolean {
  if (retained.kind !== "injected") return false;
  const item = injectedItem(retained.item);
  return item?.type === "message" && item.role === "developer";
}

/** An estimate of the tokens of the retained parts. */
export function retainedTokens(retained: readonly Retained[]): number {
  return textTokens(retained.reduce((sum, one) => sum + sizeOf(one), 0));
}

function sizeOf(retained: Retained): number {
  if (retained.kind === "goal") return retained.text.length;
  if (retained.kind === "context") return JSON.stringify(retained.entries).length;
  return retained.kind === "user" ? asText(retained.content).length : JSON.stringify(retained.item).length;
}

/** The content as text. An image or sound is replaced by its type; the summary describes its content. */
function asText(content: UserMessage["content"]): string {
  return content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
}

function textInput(text: string): UserInput {
  return { type: "text", text, text_elements: [] };
}
