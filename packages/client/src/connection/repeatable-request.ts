import type { MethodName, Params } from "@bobbin/protocol";
import { NoAnswerError, RpcError } from "@bobbin/rpc";
import { uniqueId } from "./unique-id.ts";

/** Methods that change nothing, or that have the same effect when they are called twice. */
const REPEATABLE =
  /\/(list|read|get|search|searchOccurrences|resume|unsubscribe|interrupt)$|^thread\/name\/set$/;

/** Adds an ID to the params, by which the host recognizes a repeated request, for methods that accept one. */
export function withRepeatId<M extends MethodName>(method: M, params: Params<M>): Params<M> {
  switch (method) {
    case "turn/start":
    case "turn/steer":
    case "thread/queue/add":
      return withDefault(params, "clientUserMessageId");
    case "thread/start":
      return withDefault(params, "idempotencyKey");
    default:
      return params;
  }
}

function withDefault<P>(params: P, key: string): P {
  const given = (params as Record<string, unknown> | undefined)?.[key];
  return given == null ? { ...params, [key]: uniqueId() } : params;
}

/** Whether a request that got no answer may be sent again without having its effect twice. */
export function isRepeatable(method: MethodName): boolean {
  return (
    method === "turn/start" || method === "turn/steer" || method === "thread/start" || REPEATABLE.test(method)
  );
}

/** Whether the connection ended before the answer came. */
export function isLost(cause: unknown): cause is NoAnswerError {
  return cause instanceof NoAnswerError && cause.reason === "closed";
}

/** Error codes of temporary errors: the same request may succeed later. */
const PASSING: ReadonlySet<unknown> = new Set(["overloaded", "shuttingDown", "heldElsewhere"]);

export function isPassing(cause: unknown): boolean {
  return cause instanceof RpcError && PASSING.has((cause.data as { code?: unknown } | undefined)?.code);
}
