import type { Notification } from "../run-turn.ts";
import type { ThreadState } from "./thread-state.ts";

/**
 * Converts a notification to those that readers get, so that the deltas of an item add up to its text over any number of
 * connections. After a reconnect the host sends the text of a running item from its beginning, although readers have
 * already got some of it; for an item that completed meanwhile, the host sends no delta.
 */
export function removeRepeatedText(before: ThreadState, event: Notification): readonly Notification[] {
  if (event.method === "item/completed") return [...missingText(before, event.params), event];
  const part = unseenPart(before, event);
  return part === undefined ? [] : [part];
}

/** The rest of a text that was completed while there was no connection, as a delta. */
function missingText(
  { running }: ThreadState,
  { threadId, turnId, item }: Extract<Notification, { method: "item/completed" }>["params"],
): readonly Notification[] {
  const known = running.get(item.id);
  if (item.type !== "agentMessage" && item.type !== "plan") return [];
  if (!known?.outdated.includes("text 0") || !item.text.startsWith(known.text)) return [];
  const delta = item.text.slice(known.text.length);
  if (delta === "") return [];
  const params = { threadId, turnId, itemId: item.id, delta };
  const method = item.type === "plan" ? "item/plan/delta" : "item/agentMessage/delta";
  return [{ method, params }];
}

function unseenPart(before: ThreadState, event: Notification): Notification | undefined {
  switch (event.method) {
    case "item/agentMessage/delta":
    case "item/plan/delta":
    case "item/commandExecution/outputDelta":
    case "item/fileChange/outputDelta":
      return without(before, event, "text", 0);
    case "item/reasoning/summaryTextDelta":
      return without(before, event, "summary", event.params.summaryIndex);
    case "item/reasoning/textDelta":
      return without(before, event, "content", event.params.contentIndex);
    case "item/reasoning/summaryPartAdded": {
      const { itemId, summaryIndex } = event.params;
      return summaryIndex < (before.running.get(itemId)?.summary.length ?? 0) ? undefined : event;
    }
    default:
      return event;
  }
}

type TextNotification = Extract<Notification, { params: { delta: string; itemId: string } }>;

function without(
  { running }: ThreadState,
  event: TextNotification,
  of: "text" | "summary" | "content",
  index: number,
): Notification | undefined {
  const known = running.get(event.params.itemId);
  if (!known?.outdated.includes(`${of} ${index}`)) return event;
  const seen = of === "text" ? known.text : (known[of][index] ?? "");
  const { delta } = event.params;
  // The texts differ if the host sends only the end of a long output, or has lost unsaved text in a crash.
  if (!delta.startsWith(seen)) return seen.startsWith(delta) ? undefined : event;
  if (delta.length === seen.length) return undefined;
  return { ...event, params: { ...event.params, delta: delta.slice(seen.length) } } as Notification;
}
