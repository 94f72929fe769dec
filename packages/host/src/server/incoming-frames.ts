import { fault } from "../errors.ts";

/** A request ID as the client wrote it, because JavaScript cannot represent every JSON number. */
export type RequestId = { readonly json: string };

export type Incoming =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "response"; readonly id: string | number; readonly answer: Answer }
  | { readonly kind: "invalid"; readonly id: RequestId; readonly fault: ReturnType<typeof fault> };

export type Answer = { readonly result: unknown } | { readonly error: unknown };

const NO_ID: RequestId = { json: "null" };
/**
 * Limit on the nesting of messages, as in the Codex CLI. Deeper values can be parsed but not serialized again, so
 * notifications and journals could not repeat them.
 */
const MAX_NESTING = 128;

/** Parses a message. If the message is invalid but its ID is readable, the error reply carries the ID. */
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
  if (text.length > 2 * MAX_NESTING && isDeeper(message, MAX_NESTING)) {
    return invalid(known ?? NO_ID, fault("invalidFrame", `nested more than ${MAX_NESTING} levels deep`));
  }
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

/**
 * The top-level `id` as the client wrote it. The text must be valid JSON. Of several `id` members the last one
 * counts, as in JSON.parse. Strings are skipped by searching for the closing quote: a regular expression would
 * overflow the stack on a string of many megabytes.
 */
function numberAsWritten(text: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  const marks = /["{}[\]]/g;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const at = mark.index;
    if (mark[0] === "{" || mark[0] === "[") depth++;
    else if (mark[0] === "}" || mark[0] === "]") depth--;
    else {
      const end = endOfString(text, at);
      marks.lastIndex = end;
      if (depth !== 1 || text.slice(at, end) !== '"id"') continue;
      const value = /^\s*:\s*(-?[\d.eE+-]+)/.exec(text.slice(end, end + 512));
      if (value !== null) found = value[1];
    }
  }
  return found;
}

/** The index after the closing quote of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes++;
    at = quote + 1;
    if (escapes % 2 === 0) return at;
  }
}

/** Whether a value is nested more than `levels` deep. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
  }
  return false;
}
