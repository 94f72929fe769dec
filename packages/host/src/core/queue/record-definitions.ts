import { array, nullable, omittable, record, string } from "@bobbin/protocol/schema";
import { QueuedSubmission, UserInput } from "@bobbin/protocol/types";
import { type Notification, toSubscribers } from "../notification.ts";
import { time } from "../number-schemas.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { foldChanged, foldQueued, foldRemoved, foldReordered } from "./fold.ts";
import type { QueueRecord } from "./records.ts";

/** The records of the queue. A fork starts with an empty queue. */
export const QUEUE_RECORDS: RecordTable<QueueRecord> = {
  submissionQueued: {
    version: 1,
    check: fields(() => ({ at: time(), submission: QueuedSubmission })),
    fold: (state, record) => ({ ...state, queue: foldQueued(state.queue, record) }),
    notify: queueChanged,
    durability: "written",
    inFork: "never",
  },
  submissionChanged: {
    version: 1,
    check: fields(() => ({
      at: time(),
      id: string(),
      input: array(UserInput),
      responsesapiClientMetadata: omittable(record(string())),
    })),
    fold: (state, record) => ({ ...state, queue: foldChanged(state.queue, record) }),
    notify: queueChanged,
    durability: "written",
    inFork: "never",
  },
  queueReordered: {
    version: 1,
    check: fields(() => ({ at: time(), ids: array(string()) })),
    fold: (state, record) => ({ ...state, queue: foldReordered(state.queue, record) }),
    notify: queueChanged,
    durability: "written",
    inFork: "never",
  },
  submissionRemoved: {
    version: 1,
    check: fields(() => ({ at: time(), id: string(), turnId: nullable(string()) })),
    fold: (state, record) => ({ ...state, queue: foldRemoved(state.queue, record) }),
    notify: queueChanged,
    durability: "written",
    inFork: "never",
  },
};

function queueChanged(threadId: string): readonly Notification[] {
  return [toSubscribers("thread/queue/changed", { threadId })];
}
