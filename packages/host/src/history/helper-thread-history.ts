import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { JournalReader } from "../store/journal.ts";
import { effectiveBackwards } from "./effective-records.ts";
import { forkHistory } from "./fork-history.ts";

/**
 * The history of a helper that is forked from its parent: the parent's ended turns, and the messages of its running
 * turn, which contain the helper's task. Tool calls of the running turn are not copied.
 */
export async function* helperHistory(
  journal: JournalReader,
  state: ThreadState,
): AsyncIterable<readonly ThreadRecord[]> {
  for await (const records of forkHistory(journal, state, {})) {
    // A helper does not take over its parent's name.
    const taken = records.filter(({ type }) => type !== "renamed");
    if (taken.length > 0) yield taken;
  }
  const items = await messagesOfTurn(journal, state);
  if (items.length > 0) yield [{ type: "itemsInjected", at: state.lastAt, items }];
}

/** The messages of the running turn as response items, oldest first. */
async function messagesOfTurn(journal: JournalReader, { turn }: ThreadState): Promise<readonly unknown[]> {
  if (turn === null) return [];
  const messages: unknown[] = [];
  for await (const { records } of effectiveBackwards(journal)) {
    for (const record of records) {
      if (record.type === "turnStarted" && record.turnId === turn.id) return messages.reverse();
      if (record.type === "itemCompleted" && record.turnId === turn.id)
        messages.push(...messageOf(record.item));
    }
  }
  return messages.reverse();
}

function messageOf(item: ThreadItem): readonly unknown[] {
  if (item.type === "agentMessage")
    return [{ type: "message", role: "assistant", content: [{ type: "output_text", text: item.text }] }];
  if (item.type !== "userMessage") return [];
  const text = item.content.map((part) => (part.type === "text" ? part.text : `(${part.type})`)).join("\n");
  return [{ type: "message", role: "user", content: [{ type: "input_text", text }] }];
}
