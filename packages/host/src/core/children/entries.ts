import { nullable, string } from "@bobbin/protocol/schema";
import { silent } from "../notification.ts";
import { RAP_EVENT } from "../rap/shapes.ts";
import { fields } from "../record-check.ts";
import type { RecordEntries } from "../record-entry.ts";
import { time } from "../shapes.ts";
import { foldChildDue, foldChildEnded, foldChildMade } from "./fold.ts";
import type { ChildRecord } from "./records.ts";

/** Children belong to the thread that began them: a fork gets none of them. */
export const CHILD_RECORDS: RecordEntries<ChildRecord> = {
  childDue: {
    version: 1,
    check: fields(() => ({ at: time(), childId: string(), event: RAP_EVENT, key: nullable(string()) })),
    fold: foldChildDue,
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  childMade: {
    version: 1,
    check: fields(() => ({ at: time(), childId: string() })),
    fold: foldChildMade,
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  childEnded: {
    version: 1,
    check: fields(() => ({ at: time(), childId: string() })),
    fold: foldChildEnded,
    notify: silent,
    durability: "written",
    inFork: "never",
  },
};
