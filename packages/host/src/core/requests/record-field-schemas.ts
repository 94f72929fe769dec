import { type ThreadRequestName, threadRequests } from "@bobbin/protocol";
import {
  array,
  boolean,
  enumeration,
  type Fields,
  inline,
  integer,
  omittable,
  type Schema,
  string,
  tagged,
  unknown,
} from "@bobbin/protocol/schema";
import { NetworkApprovalProtocol } from "@bobbin/protocol/types";
import { count, time } from "../number-schemas.ts";
import type { Ask, PendingRequest } from "./records.ts";

const METHODS = Object.keys(threadRequests) as ThreadRequestName[];

export const REQUEST_METHOD = enumeration("", METHODS);

export const REQUEST_ANSWER = tagged("", "kind", () => ({
  result: { result: unknown() },
  failed: { message: string() },
  expired: {},
  denied: { words: string() },
  cleared: {},
}));

const ASIDE = tagged("", "kind", () => ({
  choice: {
    server: string(),
    responseUrl: string(),
    choices: array(string()),
    fallback: count(),
    key: omittable(string()),
  },
  oauth: {},
  network: {
    host: string(),
    port: count(),
    protocol: NetworkApprovalProtocol,
    grant: string(),
    forGood: boolean(),
  },
  server: {
    direct: omittable(boolean()),
    sealed: omittable(boolean()),
    grant: omittable(string()),
  },
}));

export const DUE_NETWORK_RULE = inline(() => ({
  requestId: integer(),
  host: string(),
  protocol: NetworkApprovalProtocol,
  decision: enumeration("", ["allow", "deny"]),
}));

/** One variant per server request of the protocol, with that request's params. */
const byMethod = (): Record<string, Fields> =>
  Object.fromEntries(
    METHODS.map((method): [string, Fields] => [method, { params: threadRequests[method].params }]),
  );

// The cast is needed because the mapping loses which params belong to which method.
export const ASK = tagged("", "method", byMethod) as unknown as Schema<Ask>;

export const PENDING_REQUEST = tagged(
  "",
  "method",
  byMethod,
  {
    common: () => ({
      id: integer(),
      at: time(),
      turnId: string(),
      callId: string(),
      argumentsJson: omittable(string()),
      question: omittable(string()),
      aside: omittable(ASIDE),
    }),
  },
  // The cast is needed for the same reason as in `ASK`.
) as unknown as Schema<PendingRequest>;
