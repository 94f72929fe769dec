import { fault } from "../errors.ts";

/** Kept as it came: a number that JavaScript can not hold goes back as the text that it was. */
export type RequestId = { readonly json: string };

export type Incoming =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "response"; readonly id: string | number; readonly answer: Answer }
  | { readonly kind: "invalid"; readonly id: RequestId; readonly fault: ReturnType<typeof fault> };

export type Answer = { readonly result: unknown } | { readonly error: unknown };

const NO_ID: RequestId = { json: "null" };

/** Tells what a message is. Whatever has an id that can be read keeps it, also when the rest is bad. */
export function readFrame(text: string): Incoming {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch (cause) {
    return invalid(NO_ID, fault("malformedJson", (cause as Error).message));
  }
  if (Array.isArray(message)) return invalid(NO_ID, fault("invalidFrame", "batches are not supported"));
  if (typeof message !== "object" || message === null) {
    return invalid(NO_ID, fault("invalidFrame", "a message is an object"));
  }
  const { id, method, params, result, error } = message as Record<string, unknown>;
  const known = requestId(id, text);
  if (typeof method === "string") {
    if (id === undefined) return { kind: "notification", method, params };
    if (known !== undefined) return { kind: "request", id: known, method, params };
    return invalid(NO_ID, fault("invalidFrame", "id must be a number or a string"));
  }
  if (method !== undefined) return invalid(known ?? NO_ID, fault("invalidFrame", "method must be a string"));
  if (result === undefined && error === undefined) {
    return invalid(known ?? NO_ID, fault("invalidFrame", "neither a method nor an answer"));
  }
  if (typeof id !== "string" && typeof id !== "number") {
    return invalid(NO_ID, fault("invalidFrame", "an answer needs the id of its request"));
  }
  return { kind: "response", id, answer: error === undefined ? { result } : { error } };
}

function invalid(id: RequestId, why: ReturnType<typeof fault>): Incoming {
  return { kind: "invalid", id, fault: why };
}

function requestId(id: unknown, text: string): RequestId | undefined {
  if (typeof id === "string") return { json: JSON.stringify(id) };
  if (typeof id !== "number") return undefined;
  return { json: Number.isSafeInteger(id) ? String(id) : (numberAsWritten(text) ?? JSON.stringify(id)) };
}

/** The top-level `id` as the client wrote it; JSON is known to be valid. The last one counts, as in JSON.parse. */
function numberAsWritten(text: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  for (const token of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/gs)) {
    const [part] = token;
    if (part === "{" || part === "[") depth++;
    else if (part === "}" || part === "]") depth--;
    else if (depth === 1 && part === '"id"') {
      const value = /^\s*:\s*(-?[\d.eE+-]+)/.exec(
        text.slice(token.index + part.length, token.index + part.length + 512),
      );
      if (value !== null) found = value[1];
    }
  }
  return found;
}
