import {
  array,
  boolean,
  enumeration,
  inline,
  integer,
  nullable,
  omittable,
  record,
  string,
  unknown,
} from "@bobbin/protocol/schema";
import { FunctionCallOutputBody } from "@bobbin/protocol/types";
import { BLOBS } from "../blobs-schema.ts";
import { count, time } from "../number-schemas.ts";

const outsideCall = () => ({
  callId: string(),
  server: string(),
  via: string(),
  tool: string(),
  args: string(),
});

export const OUTSIDE_CALL = inline(outsideCall);

export const LATE_CALL = inline(() => ({
  ...outsideCall(),
  turnId: string(),
  until: nullable(time()),
  unacknowledged: omittable(boolean()),
}));

export const RAP_EVENT = inline(() => ({
  id: string(),
  kind: enumeration("", ["event", "result"]),
  call: OUTSIDE_CALL,
  output: FunctionCallOutputBody,
  success: boolean(),
  shown: inline(() => ({ content: array(unknown()), _meta: unknown() })),
  blobs: omittable(BLOBS),
}));

const madeChoice = () => ({
  requestId: integer(),
  callId: string(),
  server: string(),
  responseUrl: string(),
  selected: count(),
  key: omittable(string()),
});

export const MADE_CHOICE = inline(madeChoice);

export const VIEW_CONTENT = record(unknown());

export const RAP_STATE = inline(() => ({
  subscriptions: array(OUTSIDE_CALL),
  late: array(LATE_CALL),
  events: array(RAP_EVENT),
  // Only in checkpoints of earlier versions.
  children: omittable(array(inline(() => ({ childId: string(), event: nullable(RAP_EVENT) })))),
  choices: array(
    inline(() => ({
      ...madeChoice(),
      delays: omittable(count()),
      until: omittable(time()),
    })),
  ),
  views: array(inline(() => ({ type: string(), server: string(), callId: string(), content: VIEW_CONTENT }))),
  keys: array(string()),
  cancels: omittable(array(string())),
}));
