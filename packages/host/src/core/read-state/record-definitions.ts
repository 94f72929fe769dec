import { toSubscribers } from "../notification.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { readStateView } from "./read-state-view.ts";
import { readState } from "./record-field-schemas.ts";
import type { ReadStateRecord } from "./records.ts";

export const READ_STATE_RECORDS: RecordTable<ReadStateRecord> = {
  readStateChanged: {
    version: 1,
    check: fields(readState),
    fold: (state, { at, change, firstUnread }) => ({ ...state, readState: { at, change, firstUnread } }),
    notify: (threadId, record) => [
      toSubscribers("thread/readState/changed", { threadId, readState: readStateView(threadId, record) }),
    ],
    durability: "written",
    inFork: "never",
  },
};
