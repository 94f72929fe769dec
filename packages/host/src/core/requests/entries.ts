import { silent, toSubscribers } from "../notification.ts";
import type { RecordEntries } from "../record-entry.ts";
import { foldRequestResolved, foldRequestSent } from "./fold.ts";
import type { RequestRecord } from "./records.ts";

export const REQUEST_RECORDS: RecordEntries<RequestRecord> = {
  requestSent: {
    version: 1,
    fold: foldRequestSent,
    // A question goes to those who are there, and again to those who come: not by way of what they missed.
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  requestResolved: {
    version: 1,
    fold: foldRequestResolved,
    notify: (threadId, { requestId }) => [toSubscribers("serverRequest/resolved", { threadId, requestId })],
    durability: "synced",
    inFork: "never",
  },
};
