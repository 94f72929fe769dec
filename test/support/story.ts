import type { Received } from "./wire-client.ts";

/** What came, as short words: replies by their id, statuses and items by their type, deltas in a row as one. */
export function story(frames: readonly Received[], threadId?: string): string[] {
  const words = frames
    .filter((frame) => threadId === undefined || isAbout(frame, threadId))
    .filter((frame) => !isOfUnknownModel(frame))
    .map(wordOf);
  return words.filter((word, at) => word !== DELTA || words[at - 1] !== word);
}

const DELTA = "item/agentMessage/delta";

/** Replies are about whatever was asked, so they always count. */
function isAbout({ method, params }: Received, threadId: string): boolean {
  return method === undefined || (params.threadId ?? params.thread?.id) === threadId;
}

function wordOf({ id, method, params, error }: Received): string {
  if (method === undefined) return `${error === undefined ? "reply" : "error"} ${id}`;
  if (method === "thread/status/changed") return `${method} ${params.status.type}`;
  if (params?.item !== undefined) return `${method} ${params.item.type}`;
  return method;
}

/** The deltas of an item, put together. */
export function deltas(frames: readonly Received[], itemId: string): string {
  return frames
    .filter(({ method, params }) => method === DELTA && params.itemId === itemId)
    .map(({ params }) => params.delta)
    .join("");
}

/** Nothing is known of a mock's model, and each of its turns says so. */
export function isOfUnknownModel({ method, params }: Received): boolean {
  return method === "warning" && params.message.startsWith("Model metadata for");
}
