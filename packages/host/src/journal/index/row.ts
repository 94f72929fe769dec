import { environmentsOf, type Place, threadView } from "../../core/life/views.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { IndexedText, ThreadRow } from "./thread-index.ts";

/** A thread as lists have it. */
export function rowOf(state: ThreadState, seq: number, place: Place): ThreadRow {
  const { facts, section } = state;
  return {
    id: facts.id,
    owner: facts.owner,
    seq,
    archived: place.archived,
    // A thread with a goal alone has a preview, too: what it is for.
    listed: state.hasUserMessage || state.preview !== "",
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
    recencyAt: state.updatedAt,
    parentThreadId: facts.parentThreadId,
    sectionId: section?.id ?? null,
    sectionPosition: section?.position ?? null,
    // Whether it is loaded is known where the list is shown.
    thread: {
      ...threadView({ ...state, status: { type: "notLoaded" } }, place),
      environments: environmentsOf(state.settings),
    },
  };
}

/**
 * A thread that was started and nothing more is in no list, and most of them come to more or to an end: the index
 * hears of it with its next commit.
 */
export function isIndexed(state: ThreadState, seq: number): boolean {
  return seq > 1 || state.facts.parentThreadId !== null;
}

/** What of a commit can be searched for. */
export function textsOf({ records, seq }: Commit): IndexedText[] {
  const texts: IndexedText[] = [];
  for (const [nth, record] of records.entries()) {
    if (record.type === "itemsInjected") texts.push(...injectedTexts(record, `:injected ${seq} ${nth}`));
    if (record.type !== "itemCompleted") continue;
    const { item, turnId, at } = record;
    if (item.type === "agentMessage") {
      texts.push({ turnId, itemId: item.id, role: "agent", at, text: item.text });
    } else if (item.type === "userMessage") {
      const text = item.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      texts.push({ turnId, itemId: item.id, role: "user", at, text });
    }
  }
  return texts.filter(({ text }) => text.trim() !== "");
}

/** Messages that a client put in; what developers say is no part of what was said. */
function injectedTexts(
  { items, at, after = "" }: Extract<ThreadRecord, { type: "itemsInjected" }>,
  name: string,
): IndexedText[] {
  return items.flatMap((given, nth): IndexedText[] => {
    const { type, role, content } = given as { type?: unknown; role?: unknown; content?: unknown };
    if (type !== "message" || (role !== "user" && role !== "assistant") || !Array.isArray(content)) return [];
    const text = content.map((part: { text?: unknown }) => (typeof part?.text === "string" ? part.text : ""));
    const itemId = `${name} ${nth}`;
    return [{ turnId: after, itemId, role: role === "user" ? "user" : "agent", at, text: text.join("\n") }];
  });
}

/** Turns that no longer count: what they said is not found any more. */
export function droppedTurns({ records }: Commit): string[] {
  return records.flatMap((record) => (record.type === "turnsDropped" ? record.dropped : []));
}
