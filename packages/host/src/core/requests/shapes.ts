import { type ServerRequestName, serverRequests } from "@bobbin/protocol";
import {
  array,
  enumeration,
  type Fields,
  integer,
  omittable,
  type Schema,
  string,
  tagged,
  unknown,
} from "@bobbin/protocol/schema";
import { count, time } from "../shapes.ts";
import type { PendingRequest } from "./records.ts";

const METHODS = Object.keys(serverRequests) as ServerRequestName[];

export const REQUEST_METHOD = enumeration("", METHODS);

export const REQUEST_ANSWER = tagged("", "kind", () => ({
  result: { result: unknown() },
  failed: { message: string() },
  expired: {},
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
}));

/** One variant per server request of the protocol, with that request's params. */
export const PENDING_REQUEST = tagged(
  "",
  "method",
  () => {
    const variants = METHODS.map((method): [string, Fields] => [
      method,
      { params: serverRequests[method].params },
    ]);
    return Object.fromEntries(variants);
  },
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
  // The compiler loses the pairs of method and params on their way through the list.
) as unknown as Schema<PendingRequest>;
