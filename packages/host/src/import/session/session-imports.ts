import type { SessionMigration } from "@bobbin/protocol";
import { Fault, messageOf } from "../../errors.ts";
import { FewAtOnce } from "../../platform/concurrency-limit.ts";
import type { Journal } from "../../store/journal.ts";
import { ItemResult } from "../item-result.ts";
import type { SessionFile, SessionReader } from "./session-files.ts";
import { type SessionThreadPorts, threadFromSession } from "./thread-from-session.ts";

export interface SessionLimits {
  readonly maxAgeDays: number;
  readonly maxSessions: number;
}

/** Default limits for clients that name none. */
export const USUAL_LIMITS: SessionLimits = { maxAgeDays: 30, maxSessions: 50 };

const DAY_MS = 24 * 60 * 60 * 1000;
/** Limit on concurrent reads and imports. They mostly wait for the disk. */
const AT_ONCE = 16;
/** Number of sessions per progress notification. */
const PER_PROGRESS = 100;

/**
 * Returns the sessions that have no thread yet, the latest first. Unreadable sessions are included; importing one
 * reports the error.
 */
export async function newSessions(
  files: SessionReader,
  journal: Pick<Journal, "has">,
  now: number,
  { maxAgeDays, maxSessions }: SessionLimits,
): Promise<SessionMigration[]> {
  const oldest = now - maxAgeDays * DAY_MS;
  const young = (await files.list()).filter(({ modifiedAt }) => modifiedAt >= oldest);
  const sorted = young.sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1));
  const found: SessionMigration[] = [];
  for (let at = 0; at < sorted.length && found.length < maxSessions; at += AT_ONCE) {
    const some = sorted.slice(at, at + AT_ONCE).map((file) => newSession(files, journal, file));
    for (const one of await Promise.all(some)) if (one !== undefined) found.push(one);
  }
  return found.slice(0, maxSessions);
}

async function newSession(
  files: SessionReader,
  journal: Pick<Journal, "has">,
  { path }: SessionFile,
): Promise<SessionMigration | undefined> {
  try {
    const outline = await files.outline(path);
    if (outline === undefined || (await journal.has(outline.threadId))) return undefined;
    return { path, cwd: outline.cwd, title: outline.title };
  } catch {
    return { path, cwd: "", title: null };
  }
}

/** Returns the requested sessions that an import may read, without duplicates; all others are reported as failures. */
export async function checkedSessions(
  files: SessionReader,
  sessions: readonly SessionMigration[],
): Promise<{ readonly paths: readonly string[]; readonly result: ItemResult }> {
  const result = new ItemResult("SESSIONS", null);
  const paths = new Set<string>();
  for (const { path } of sessions) {
    const located = await files.locate(path).catch(() => undefined);
    if (located !== undefined) paths.add(located);
    else
      result.failure(
        path,
        `external agent session was not detected for import: ${path}`,
        "session_missing",
        "session_not_detected",
      );
  }
  return { paths: [...paths], result };
}

/** Imports sessions as threads, each independently, and reports progress in batches. Stops when aborted. */
export async function importSessions(
  files: SessionReader,
  paths: readonly string[],
  ports: SessionThreadPorts,
  signal: AbortSignal,
  report: (result: ItemResult) => void,
): Promise<void> {
  const few = new FewAtOnce(AT_ONCE);
  for (let at = 0; at < paths.length && !signal.aborted; at += PER_PROGRESS) {
    const some = paths.slice(at, at + PER_PROGRESS);
    const tell = await Promise.all(
      some.map((path) => few.run(() => importSession(files, path, ports, signal))),
    );
    const result = new ItemResult("SESSIONS", null);
    for (const one of tell) one?.(result);
    report(result);
  }
}

async function importSession(
  files: SessionReader,
  path: string,
  ports: SessionThreadPorts,
  signal: AbortSignal,
): Promise<((result: ItemResult) => void) | undefined> {
  if (signal.aborted) return undefined;
  try {
    const session = await files.open(path);
    if (session === undefined) return undefined;
    const { threadId, cwd } = session.head;
    const brought = await threadFromSession(session, ports);
    if (brought.kind !== "made") return undefined;
    const { title } = brought;
    return (result) => result.success(path, threadId, { ...(cwd !== "" && { cwd }), title });
  } catch (cause) {
    // Another host has the thread, because it imports the same session, or has imported it and loaded the thread.
    if (cause instanceof Fault && cause.code === "heldElsewhere") return undefined;
    return (result) => result.failure(path, messageOf(cause), "session_import", "failed_to_import_session");
  }
}
