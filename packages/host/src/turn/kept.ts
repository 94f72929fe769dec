import type { UserInput } from "@bobbin/protocol";
import type { ThreadRecord } from "../core/records.ts";
import { textCharacters, textTokens } from "../core/turn/context-size.ts";
import type { Kept } from "../core/turn/records.ts";
import { injectedItem } from "./injected.ts";

/** How many tokens of users' words a compaction leaves at most, and how many of what clients put in. */
const KEPT_TOKENS = 20_000;
/** A small window has room for a part of that. */
const KEPT_SHARE = 0.15;

type UserWords = Extract<Kept, { kind: "user" }>;

/**
 * What a compaction leaves as it is, oldest first: the last words of users, all of them in the running turn, and
 * what clients put in. What developers say among that is instructions, and stays whatever its length.
 */
export function keptOf(
  covered: readonly ThreadRecord[],
  turnId: string,
  /** How many tokens a conversation may have. */
  limit: number,
): readonly Kept[] {
  const most = textCharacters(Math.min(KEPT_TOKENS, Math.floor(limit * KEPT_SHARE)));
  const budget = { user: most, injected: most };
  return all(covered)
    .toReversed()
    .flatMap((kept): Kept[] => {
      if (kept.kind === "goal" || kept.kind === "context") return kept.turnId === turnId ? [kept] : [];
      if (kept.kind === "user" && kept.turnId === turnId) return [kept];
      if (isInstruction(kept)) return [kept];
      const left = budget[kept.kind];
      const size = sizeOf(kept);
      budget[kept.kind] = size <= left ? left - size : 0;
      if (kept.kind === "injected") return size <= left ? [kept] : [];
      const text = inWords(kept.content);
      if (text === "" || left === 0) return [];
      return [{ ...kept, content: [words(size <= left ? text : `${text.slice(0, left)} […]`)] }];
    })
    .reverse();
}

/** Everything that could be kept. */
function all(covered: readonly ThreadRecord[]): readonly Kept[] {
  return covered.flatMap((record): readonly Kept[] => {
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

function isInstruction(kept: Kept): boolean {
  if (kept.kind !== "injected") return false;
  const item = injectedItem(kept.item);
  return item?.type === "message" && item.role === "developer";
}

export function keptTokens(kept: readonly Kept[]): number {
  return textTokens(kept.reduce((sum, one) => sum + sizeOf(one), 0));
}

function sizeOf(kept: Kept): number {
  if (kept.kind === "goal") return kept.text.length;
  if (kept.kind === "context") return JSON.stringify(kept.entries).length;
  return kept.kind === "user" ? inWords(kept.content).length : JSON.stringify(kept.item).length;
}

/** Pictures and the like were seen: the summary says what was in them. */
function inWords(content: UserWords["content"]): string {
  return content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
}

function words(text: string): UserInput {
  return { type: "text", text, text_elements: [] };
}
