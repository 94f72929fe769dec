import { boolean, integer, omittable, string } from "@bobbin/protocol/schema";
import { ThreadTokenUsage, TokenUsageBreakdown } from "@bobbin/protocol/types";
import { silent, toSubscribers } from "../notification.ts";
import { time } from "../number-schemas.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { foldRequestResolved, foldRequestSent } from "./fold.ts";
import { DUE_NETWORK_RULE, PENDING_REQUEST, REQUEST_ANSWER } from "./record-field-schemas.ts";
import type { RequestRecord } from "./records.ts";

export const REQUEST_RECORDS: RecordTable<RequestRecord> = {
  requestSent: {
    version: 1,
    check: fields(() => ({ request: PENDING_REQUEST })),
    fold: foldRequestSent,
    // Silent, because requests are no notifications: subscribers are sent pending requests directly, and again when
    // they resume.
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
  serverSampled: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      callId: string(),
      server: string(),
      spent: TokenUsageBreakdown,
      usage: ThreadTokenUsage,
    })),
    fold: (state, { usage }) => ({ ...state, usage }),
    notify: (threadId, { turnId, usage }) => [
      toSubscribers("thread/tokenUsage/updated", { threadId, turnId, tokenUsage: usage }),
    ],
    durability: "written",
    inFork: "never",
  },
};
