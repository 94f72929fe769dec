import type { TurnStatus } from "@bobbin/protocol";
import type { Queue, QueueRecord } from "./records.ts";

export function foldQueue(queue: Queue, record: QueueRecord): Queue {
  const { items } = queue;
  switch (record.type) {
    case "submissionQueued":
      return { ...queue, items: [...items, record.submission] };
    case "submissionChanged":
      return {
        ...queue,
        items: items.map((item) => (item.id === record.id ? { ...item, input: [...record.input] } : item)),
      };
    case "queueReordered":
      return {
        ...queue,
        items: record.ids.flatMap((id) => items.find((item) => item.id === id) ?? []),
      };
    case "submissionRemoved":
      return { ...queue, items: items.filter(({ id }) => id !== record.id) };
  }
}

export function queueAfterTurn(queue: Queue, status: TurnStatus): Queue {
  const paused = status === "interrupted";
  return queue.paused === paused ? queue : { ...queue, paused };
}
