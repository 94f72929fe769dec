import { LIMITS } from "./limits.ts";
import { list, object, orElse, type Parsed, parse, type Read, text } from "./shape.ts";
import { anyObject, httpUrl, id } from "./values.ts";

const invocation = object({
  operation: text({ min: 1, max: LIMITS.name }),
  arguments: anyObject,
  id,
  call_id: orElse(id, null),
  callback_url: httpUrl,
  group_id: id,
  /** From the root to the parent; none for a root thread. */
  thread_ancestors: orElse(list(id, { max: LIMITS.ancestors }), [] as readonly string[]),
  user_id: orElse(id, null),
});

/** A call of a tool. What may be absent on the wire has its value here. */
export type Invocation = Read<typeof invocation>;

/**
 * Reads a call of a tool.
 *
 * @example
 * const read = parseInvocation(JSON.parse(body));
 * if (read.ok) run(read.value.operation, read.value.arguments);
 */
export function parseInvocation(value: unknown): Parsed<Invocation> {
  return parse(invocation, value);
}

/**
 * A call as it goes over the wire: a root thread names no ancestors. `argumentsJson`: the arguments as JSON, where
 * `JSON.stringify` would change them (integers beyond 2^53).
 *
 * @example
 * await fetch(endpoint, { method: "POST", headers, body: encodeInvocation(invocation) });
 */
export function encodeInvocation(
  { thread_ancestors, ...rest }: Invocation,
  argumentsJson = JSON.stringify(rest.arguments),
): string {
  const { arguments: _, ...others } = rest;
  const named = thread_ancestors.length === 0 ? others : { ...others, thread_ancestors };
  return `{"arguments":${argumentsJson},${JSON.stringify(named).slice(1)}`;
}

/**
 * Reads only the callback URL, from a call that can not be read otherwise.
 *
 * @example
 * const url = parseCallbackUrl(value);
 * if (!url.ok) return new Response(null, { status: 400 });
 */
export function parseCallbackUrl(value: unknown): Parsed<string> {
  return parse((whole, path) => callbackUrl(whole, path).callback_url, value);
}

const callbackUrl = object({ callback_url: httpUrl });

const returnAddress = object({
  id,
  call_id: orElse(id, null),
  callback_url: httpUrl,
  group_id: id,
});

/** Where the outcome of a call goes, and how it is found there. */
export type ReturnAddress = Read<typeof returnAddress>;

/**
 * Reads only where to answer, from a call that can not be read as a whole: its sender waits for a result.
 *
 * @example
 * const address = parseReturnAddress(value);
 * if (address.ok) await deliver(address.value, "Error: arguments must be an object");
 */
export function parseReturnAddress(value: unknown): Parsed<ReturnAddress> {
  return parse(returnAddress, value);
}
