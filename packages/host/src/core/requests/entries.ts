import { boolean, integer, omittable } from "@bobbin/protocol/schema";
import { silent, toSubscribers } from "../notification.ts";
import { fields } from "../record-check.ts";
import type { RecordEntries } from "../record-entry.ts";
import { time } from "../shapes.ts";
import { foldRequestResolved, foldRequestSent } from "./fold.ts";
import type { RequestRecord } from "./records.ts";
import { DUE_NETWORK_RULE, PENDING_REQUEST, REQUEST_ANSWER } from "./shapes.ts";

export const REQUEST_RECORDS: RecordEntries<RequestRecord> = {
  requestSent: {
    version: 1,
    check: fields(() => ({ request: PENDING_REQUEST })),
    fold: foldRequestSent,
    // A question goes to those who are there, and again to those who come: not by way of what they missed.
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  requestResolved: {
    version: 1,
    check: fields(() => ({
      at: time(),
      requestId: integer(),
      answer: REQUEST_ANSWER,
      sealed: omittable(boolean()),
    })),
    fold: foldRequestResolved,
    notify: (threadId, { requestId }) => [toSubscribers("serverRequest/resolved", { threadId, requestId })],
    durability: "synced",
    inFork: "never",
  },
  networkRuleDecided: {
    version: 1,
    check: fields(() => ({ at: time(), rule: DUE_NETWORK_RULE })),
    fold: (state, { rule }) => ({ ...state, networkRules: [...state.networkRules, rule] }),
    notify: silent,
    durability: "synced",
    inFork: "never",
  },
  networkRuleSaved: {
    version: 1,
    check: fields(() => ({ at: time(), requestId: integer() })),
    fold: (state, { requestId }) => ({
      ...state,
      networkRules: state.networkRules.filter((rule) => rule.requestId !== requestId),
    }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
};
