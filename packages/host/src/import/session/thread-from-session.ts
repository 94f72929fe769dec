import { fold } from "../../core/fold.ts";
import { checkpointOf } from "../../core/life/make-checkpoint.ts";
import type { ThreadSettings } from "../../core/life/records.ts";
import { weightOf } from "../../core/memory-size.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Journal } from "../../store/journal.ts";
import type { Session } from "./session-events.ts";
import { titleOf } from "./session-files.ts";
import { SessionRecords } from "./session-records.ts";

export interface SessionThreadPorts {
  readonly journal: Pick<Journal, "bring">;
  /** Owner of the new threads. */
  readonly owner: string;
  now(): number;
  /** Returns the settings of a thread in this folder, with the session's model and provider if they are available. */
  settings(cwd: string, ran: { model: string | null; modelProvider: string | null }): Promise<ThreadSettings>;
}

/** Outcome of a session's import. */
export type SessionOutcome =
  | { readonly kind: "made"; readonly title: string | null }
  /** The thread existed already. */
  | { readonly kind: "known" }
  /** The session contains no message. */
  | { readonly kind: "empty" };

/** Approximate limit on the size of one commit. */
const COMMIT_WEIGHT = 256 * 1024;

/** Stores a session as a thread, atomically. The thread has the state of a closed thread. */
export async function threadFromSession(
  session: Session,
  ports: SessionThreadPorts,
): Promise<SessionOutcome> {
  const { head } = session;
  let state: ThreadState | undefined;
  let seq = 0;
  const next = (records: readonly ThreadRecord[]): Commit => {
    for (const record of records) state = fold(state, record);
    const commit: Commit = { seq: seq + 1, epoch: 1, prev: seq, records };
    seq++;
    return commit;
  };
  const latest = ports.now();
  const settings = await ports.settings(head.cwd, head);
  const records = new SessionRecords({ ...head, cwd: settings.cwd, latest });
  let isEmpty = true;
  async function* commits(): AsyncGenerator<Commit> {
    const { threadId: id, gitInfo } = head;
    const at = Math.min(head.startedAt, latest);
    const first: ThreadRecord[] = [
      {
        type: "created",
        at,
        facts: {
          id,
          owner: ports.owner,
          ephemeral: false,
          source: head.source,
          originator: head.originator,
          cliVersion: head.cliVersion,
          serviceName: null,
          threadSource: null,
          forkedFromId: head.forkedFromId,
          parentThreadId: null,
        },
        settings,
        load: {},
        docs: [],
      },
    ];
    if (gitInfo !== null) first.push({ type: "gitInfoChanged", at, gitInfo });
    yield next(first);
    let waiting: ThreadRecord[] = [];
    let weight = 0;
    for await (const event of session.events) {
      records.add(event);
      const more = records.take();
      for (const record of more) waiting.push(record);
      weight += weightOf(more);
      const isTurn = more.some(({ type }) => type === "turnEnded");
      if (!isTurn && weight < COMMIT_WEIGHT) continue;
      yield next(waiting);
      waiting = [];
      weight = 0;
    }
    records.end();
    waiting.push(...records.take());
    if (waiting.length > 0) yield next(waiting);
    isEmpty = records.isEmpty;
    const end = records.at;
    // Tool servers do not know the thread, so no notice is due.
    const closed: ThreadRecord[] = [
      { type: "closed", at: end, reason: "requested" },
      { type: "notified", at: end },
    ];
    for (const record of closed) state = fold(state, record);
    yield { seq: seq + 1, epoch: 1, prev: seq, records: [...closed, checkpointOf(state!)] };
    seq++;
  }
  /** An error while reading the session, which is reported differently from an error while writing the journal. */
  let problem: { readonly cause: unknown } | undefined;
  async function* reading(): AsyncGenerator<Commit> {
    try {
      yield* commits();
    } catch (cause) {
      problem = { cause };
      throw cause;
    }
  }
  const storing = ports.journal.bring(head.threadId, reading(), {
    archived: head.archived,
    state: () => (isEmpty ? undefined : state),
  });
  const place = await storing.catch((cause: unknown) => {
    throw problem === undefined ? cause : problem.cause;
  });
  if (place !== undefined) return { kind: "made", title: state!.name ?? titleOf(state!.preview) };
  return { kind: isEmpty && seq > 0 ? "empty" : "known" };
}
