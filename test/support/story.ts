import type { Received } from "./wire-client.ts";

/**
 * Summarizes frames as short words: replies by their ID, statuses and items by their type, consecutive deltas as one.
 */
export function story(frames: readonly Received[], threadId?: string): string[] {
  const words = frames
    .filter((frame) => threadId === undefined || isAbout(frame, threadId))
    .filter((frame) => !isOfUnknownModel(frame))
    .map(wordOf);
  return words.filter((word, at) => word !== DELTA || words[at - 1] !== word);
}

const DELTA = "item/agentMessage/delta";

/** Replies always count, because they name no thread. */
function isAbout({ method, params }: Received, threadId: string): boolean {
  return method === undefined || (params.threadId ?? params.thread?.id) === threadId;
}

function wordOf({ id, method, params, error }: Received): string {
  if (method === undefined) return `${error === undefined ? "reply" : "error"} ${id}`;
  if (method === "thread/status/changed") return `${method} ${params.status.type}`;
  if (params?.item !== undefined) return `${method} ${params.item.type}`;
  return method;
}

/** Joins the deltas of an item. */
export function deltas(frames: readonly Received[], itemId: string): string {
  return frames
    .filter(({ method, params }) => method === DELTA && params.itemId === itemId)
    .map(({ params }) => params.delta)
    .join("");
}

/** Whether a warning is about the mock's model, which is unknown. Each of its turns sends one. */
export function isOfUnknownModel({ method, params }: Received): boolean {
  return method === "warning" && params.message.startsWith("Model metadata for");
}
