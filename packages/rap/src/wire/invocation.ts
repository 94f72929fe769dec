import { LIMITS } from "./limits.ts";
import { list, object, orElse, type Parsed, parse, type Read, text } from "./shape.ts";
import { anyObject, httpUrl, id } from "./value-shapes.ts";

const invocation = object({
  operation: text({ min: 1, max: LIMITS.name }),
  arguments: anyObject,
  id,
  call_id: orElse(id, null),
  callback_url: httpUrl,
  group_id: id,
  /** Ids of the threads above the caller, from the root to its parent. Empty for a root thread. */
  thread_ancestors: orElse(list(id, { max: LIMITS.ancestors }), [] as readonly string[]),
  user_id: orElse(id, null),
});

/** A tool call. Fields that may be absent on the wire have their default here. */
export type Invocation = Read<typeof invocation>;

/**
 * Parses a tool call.
 *
 * @example
 * const read = parseInvocation(JSON.parse(body));
 * if (read.ok) run(read.value.operation, read.value.arguments);
 */
export function parseInvocation(value: unknown): Parsed<Invocation> {
  return parse(invocation, value);
}

/**
 * Encodes a tool call as JSON. `argumentsJson` replaces `arguments` where `JSON.stringify` would change them (integers
 * beyond 2^53). An empty `thread_ancestors` is left out.
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
 * Parses only the callback URL of a call, for calls whose other fields may be invalid.
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

/** The fields of a call that its result needs: the callback URL, and the ids by which the host finds the call. */
export type ReturnAddress = Read<typeof returnAddress>;

/**
 * Parses only the return address of a call, so that a call with other invalid fields still gets an error as its result.
 *
 * @example
 * const address = parseReturnAddress(value);
 * if (address.ok) await deliver(address.value, "Error: arguments must be an object");
 */
export function parseReturnAddress(value: unknown): Parsed<ReturnAddress> {
  return parse(returnAddress, value);
}
