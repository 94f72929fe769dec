import type { TurnStatus } from "@bobbin/protocol";
import type { Queue, QueueRecord } from "./records.ts";

type Of<T extends QueueRecord["type"]> = Extract<QueueRecord, { type: T }>;

export function foldQueued(queue: Queue, { submission }: Of<"submissionQueued">): Queue {
  return { ...queue, items: [...queue.items, submission] };
}

export function foldChanged(queue: Queue, record: Of<"submissionChanged">): Queue {
  const { id, input, responsesapiClientMetadata: metadata } = record;
  const change = {
    input: [...input],
    ...(metadata !== undefined && { responsesapiClientMetadata: { ...metadata } }),
  };
  return {
    ...queue,
    items: queue.items.map((item) => (item.id === id ? { ...item, ...change } : item)),
  };
}

export function foldReordered(queue: Queue, { ids }: Of<"queueReordered">): Queue {
  return { ...queue, items: ids.flatMap((id) => queue.items.find((item) => item.id === id) ?? []) };
}

export function foldRemoved(queue: Queue, removed: Of<"submissionRemoved">): Queue {
  return { ...queue, items: queue.items.filter(({ id }) => id !== removed.id) };
}

export function queueAfterTurn(queue: Queue, status: TurnStatus): Queue {
  const paused = status === "interrupted";
  return queue.paused === paused ? queue : { ...queue, paused };
}
