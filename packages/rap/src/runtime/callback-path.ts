import { LIMITS } from "../wire/index.ts";

/** The tool call that a callback URL was issued for. */
export interface CallbackSubject {
  /** The thread of the call. */
  readonly threadId: string;
  /** Number of the thread's load. Callbacks of an earlier load do not reach a later one. */
  readonly load: number;
  /** The tool server's name in the host's configuration. */
  readonly server: string;
  /** The id of the call. */
  readonly callId: string;
}

/** A keyed hash (such as an HMAC) of a text, in characters that are allowed in a URL path. */
export type Sign = (text: string) => string;

const FOLDER = "/rap/callback/";
const PATH = /\/rap\/callback\/([\w.-]+)\/(\d{1,9})\/([\w.-]+)\/([\w.-]+)\/([\w-]{20,200})$/;

/**
 * The path of a callback URL. It carries the call's ids and their signature, so that the host can check a callback
 * without a table of issued URLs. Only the holder of the signing key can make such a path. A tool server that gets one
 * can post messages for this call only.
 *
 * @example
 * const url = publicUrl + callbackPath({ threadId, load, server: server.name, callId }, sign);
 */
export function callbackPath(subject: CallbackSubject, sign: Sign): string {
  const { threadId, load, server, callId } = subject;
  const named = [encodeSegment(threadId), load, encodeSegment(server), encodeSegment(callId)].join("/");
  return `${FOLDER}${named}/${sign(named)}`;
}

/**
 * The call that a callback path was issued for, or undefined if its signature is wrong. A prefix that a reverse proxy
 * puts before the path is ignored.
 *
 * @example
 * const subject = readCallbackPath(new URL(request.url).pathname, sign);
 * if (subject === undefined) return 404;
 */
export function readCallbackPath(path: string, sign: Sign): CallbackSubject | undefined {
  // No issued path is longer: tool servers refuse callback URLs over this limit.
  const found = path.length > LIMITS.url ? null : PATH.exec(path);
  if (found === null) return undefined;
  const [, ...parts] = found;
  const signature = parts.pop()!;
  if (!isEqualInConstantTime(sign(parts.join("/")), signature)) return undefined;
  const [threadId, load, server, callId] = parts as [string, string, string, string];
  return {
    threadId: decodeSegment(threadId),
    load: Number(load),
    server: decodeSegment(server),
    callId: decodeSegment(callId),
  };
}

/**
 * Escapes a name as a path segment in characters that no proxy rewrites. The result is never `.` or `..`, which URL
 * parsers remove from paths even when they are percent-encoded.
 */
function encodeSegment(name: string): string {
  return name.replace(/[^\w-]/g, (unit) => `.${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function decodeSegment(segment: string): string {
  return segment.replace(/\.([\da-f]{4})/g, (_, unit: string) =>
    String.fromCharCode(Number.parseInt(unit, 16)),
  );
}

/** Takes the same time wherever the texts differ, so that a signature cannot be guessed by timing. */
function isEqualInConstantTime(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ (other.charCodeAt(at) | 0);
  return difference === 0;
}
