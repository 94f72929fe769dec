import { LIMITS } from "../wire/index.ts";

/** The one call that a callback URL is for. */
export interface CallbackSubject {
  readonly threadId: string;
  /** Which load of the thread: what one began is no business of the next. */
  readonly load: number;
  /** Who was called, as the host's configuration names it. */
  readonly server: string;
  readonly callId: string;
}

/** A keyed hash of a text, as letters that a path can hold. */
export type Sign = (text: string) => string;

const FOLDER = "/rap/callback/";
const PATH = /\/rap\/callback\/([\w.-]+)\/(\d{1,9})\/([\w.-]+)\/([\w.-]+)\/([\w-]{20,200})$/;

/**
 * The path of a callback URL. Whoever holds it may speak for that one call, and nobody can make one who does not have
 * the key: no table of them is kept.
 *
 * @example
 * const url = publicUrl + callbackPath({ threadId, load, server, callId }, sign);
 */
export function callbackPath(subject: CallbackSubject, sign: Sign): string {
  const { threadId, load, server, callId } = subject;
  const named = [written(threadId), load, written(server), written(callId)].join("/");
  return `${FOLDER}${named}/${sign(named)}`;
}

/**
 * What a path was issued for; undefined for one that never was. What stands before it, a proxy's own path, does not
 * matter.
 *
 * @example
 * const subject = readCallbackPath(new URL(request.url).pathname, sign);
 * if (subject === undefined) return 404;
 */
export function readCallbackPath(path: string, sign: Sign): CallbackSubject | undefined {
  // No host gives out one that tool servers would not take.
  const found = path.length > LIMITS.url ? null : PATH.exec(path);
  if (found === null) return undefined;
  const [, ...parts] = found;
  const given = parts.pop()!;
  if (!isSame(sign(parts.join("/")), given)) return undefined;
  const [threadId, load, server, callId] = parts as [string, string, string, string];
  return { threadId: read(threadId), load: Number(load), server: read(server), callId: read(callId) };
}

/**
 * In letters that nobody on the way has another spelling for, and never as one of the segments `.` and `..`, which whoever
 * reads an address takes out of it, also where they are written with percent signs.
 */
function written(name: string): string {
  return name.replace(/[^\w-]/g, (unit) => `.${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function read(segment: string): string {
  return segment.replace(/\.([\da-f]{4})/g, (_, unit: string) =>
    String.fromCharCode(Number.parseInt(unit, 16)),
  );
}

/** Takes as long for the first wrong letter as for the last. */
function isSame(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ (other.charCodeAt(at) | 0);
  return difference === 0;
}
