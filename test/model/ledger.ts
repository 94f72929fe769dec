import assert from "node:assert/strict";
import type { DeskLedger, DeskTool } from "../simulation/fake-desk.ts";
import { commitsOf, type JournalRecord, journals, recordsOf, type Texts } from "./journals.ts";

/** Something that a client was notified of. From then on, the thread's journal must contain it. */
interface Promised {
  readonly threadId: string;
  readonly record: string;
  /** False if a power cut may remove it. */
  readonly synced: boolean;
}

/** A message of a tool server that was answered with 200. It must survive a power cut. */
interface Taken {
  readonly threadId: string;
  readonly callId: string;
  readonly text: string;
  /** Whether a power cut came before. It may have removed the call, which is then unknown. */
  readonly powerCut: boolean;
}

/** Everything that hosts have acknowledged to clients and tool servers. */
export class Ledger implements DeskLedger {
  #promised: Promised[] = [];
  readonly #taken: Taken[] = [];
  /** The answers of clients, by request. */
  readonly #answers = new Map<number, string[]>();
  /** The cursors with which `thread/closed` was sent, by thread. A replay sends it again. */
  readonly #closedAt = new Map<string, Set<string>>();
  /** How often each client was sent `thread/closed` without a cursor, by thread, host and client. */
  readonly #closings = new Map<string, Map<string, Map<string, number>>>();
  /** How often the tool server got a close notice, by thread. */
  readonly #closeHeard = new Map<string, number>();
  /**
   * How often each call that must not be repeated was sent, and whether there was a power cut since the first time.
   */
  readonly #once = new Map<string, { times: number; powerCut: boolean }>();
  readonly #gone = new Set<string>();
  readonly #deleted = new Set<string>();
  #powerCut = false;

  promise(threadId: string, record: string, synced: boolean): void {
    this.#promised.push({ threadId, record, synced });
  }

  /** A client has requested the deletion of the thread. From then on nothing is promised about it. */
  deleting(threadId: string): void {
    this.#gone.add(threadId);
  }

  /** The thread was reported as deleted. Nothing may bring it back. */
  deleted(threadId: string): void {
    this.#deleted.add(threadId);
  }

  powerCut(): void {
    this.#powerCut = true;
    this.#promised = this.#promised.filter(({ synced }) => synced);
    for (const call of this.#once.values()) call.powerCut = true;
  }

  /** A client answers a question. */
  answering(requestId: number, answer: unknown): void {
    this.#answers.set(requestId, [...(this.#answers.get(requestId) ?? []), JSON.stringify(answer)]);
  }

  /** A client was sent `serverRequest/resolved`. */
  resolved(threadId: string, requestId: number): void {
    this.promise(threadId, `"requestId":${requestId}`, true);
  }

  /** A client of a host was sent `thread/closed`, with a cursor if it follows the thread and wants one. */
  closed(threadId: string, host: string, client: string, cursor: string | undefined): void {
    if (cursor !== undefined) {
      this.#closedAt.set(threadId, (this.#closedAt.get(threadId) ?? new Set()).add(cursor));
      return;
    }
    const hosts = this.#closings.get(threadId) ?? new Map<string, Map<string, number>>();
    const clients = hosts.get(host) ?? new Map<string, number>();
    this.#closings.set(threadId, hosts.set(host, clients.set(client, (clients.get(client) ?? 0) + 1)));
  }

  closeHeard(threadId: string): void {
    this.#closeHeard.set(threadId, (this.#closeHeard.get(threadId) ?? 0) + 1);
  }

  taken(threadId: string, callId: string, text: string): void {
    this.#taken.push({ threadId, callId, text, powerCut: this.#powerCut });
  }

  /** After a power cut, a lost dispatch is repeated. A kill loses nothing that was written. */
  invoked(threadId: string, callId: string, tool: DeskTool): void {
    if (tool !== "once") return;
    const key = `${threadId} ${callId}`;
    const call = this.#once.get(key) ?? { times: 0, powerCut: false };
    this.#once.set(key, { ...call, times: call.times + 1 });
    assert(call.times === 0 || call.powerCut, `${callId} must not be sent again, and was`);
  }

  /** `failing`: a failing disk may have lost the close of a thread, so that the next host reports it again. */
  check(disk: Texts, { failing = false } = {}): void {
    const paths = new Map(
      journals(disk).map((path) => [/([^/-]+(?:-[^/-]+){4})\.jsonl$/.exec(path)![1]!, path]),
    );
    for (const { threadId, record } of this.#promised) {
      if (this.#gone.has(threadId)) continue;
      const path = paths.get(threadId);
      assert(path !== undefined, `thread ${threadId} was acknowledged (${record}) and is gone`);
      assert(disk.text(path)!.includes(record), `${path} lost what was acknowledged: ${record}`);
    }
    const records = (threadId: string): readonly JournalRecord[] | undefined => {
      const path = paths.get(threadId);
      return this.#gone.has(threadId) || path === undefined ? undefined : recordsOf(disk, path);
    };
    this.#checkTaken(records);
    this.#checkAnswers([...paths.values()].flatMap((path) => recordsOf(disk, path)));
    if (!failing) {
      this.#checkClosings(records);
      this.#checkClosedAt((threadId) => {
        const path = paths.get(threadId);
        return this.#gone.has(threadId) || path === undefined ? undefined : commitsOf(disk, path);
      });
    }
    for (const threadId of this.#deleted) {
      const left = disk.paths.filter((name) => name.includes(threadId));
      assert.deepEqual(left, [], `what is left of the deleted thread ${threadId}`);
    }
  }

  #checkTaken(records: (threadId: string) => readonly JournalRecord[] | undefined): void {
    for (const { threadId, callId, text, powerCut } of this.#taken) {
      if (this.#gone.has(threadId)) continue;
      const written = records(threadId);
      assert(written !== undefined, `thread ${threadId} has taken "${text}" and is gone`);
      // A call that must not be repeated is synced before it is sent.
      const mayBeLost = powerCut && !this.#once.has(`${threadId} ${callId}`);
      if (mayBeLost && !written.some((record) => record.call?.callId === callId)) continue;
      const kept = written.some(
        (record) => record.type !== "checkpoint" && JSON.stringify(record).includes(text),
      );
      // A message that no call waits for is acknowledged, too, but not recorded.
      const over = written.some((record) => record.callId === callId && OVER.has(record.type));
      assert(kept || over, `thread ${threadId} lost what it has taken of call ${callId}: ${text}`);
    }
  }

  #checkAnswers(records: readonly JournalRecord[]): void {
    for (const { type, requestId, answer } of records) {
      if (type !== "requestResolved" || answer?.kind !== "result") continue;
      const given = this.#answers.get(requestId!) ?? [];
      assert(
        given.includes(JSON.stringify(answer.result)),
        `nobody gave the answer to question ${requestId}`,
      );
    }
  }

  /** A close that was sent with a cursor is in the journal at that position. */
  #checkClosedAt(commits: (threadId: string) => ReturnType<typeof commitsOf> | undefined): void {
    for (const [threadId, cursors] of this.#closedAt) {
      const written = commits(threadId);
      if (written === undefined || written.some(({ records }) => records.some(isChild))) continue;
      for (const cursor of cursors) {
        const isThere = written.some(
          ({ epoch, seq, records }) =>
            cursor.startsWith(`${epoch}.${seq}.`) && records.some(({ type }) => type === "closed"),
        );
        assert(isThere, `${threadId}: thread/closed at ${cursor}, and not in the journal`);
      }
    }
  }

  /** A close is written before any client is notified. Each is reported by one host, once to each of its clients. */
  #checkClosings(records: (threadId: string) => readonly JournalRecord[] | undefined): void {
    const count = (threadId: string, type: string) =>
      records(threadId)?.filter((record) => record.type === type).length ?? Number.POSITIVE_INFINITY;
    for (const [threadId, hosts] of this.#closings) {
      // A child that a crash left incomplete is closed, and created again under the same ID.
      if (records(threadId)?.some(isChild)) continue;
      const told = [...hosts.values()].reduce((sum, clients) => sum + Math.max(...clients.values()), 0);
      assert(
        told <= count(threadId, "closed"),
        `${threadId}: ${told} times thread/closed, and not in the journal`,
      );
    }
    for (const [threadId, heard] of this.#closeHeard) {
      if (records(threadId)?.some(isChild)) continue;
      const notices = count(threadId, "notified");
      assert(heard <= notices, `${threadId}: ${heard} times /close_thread, for ${notices} records of it`);
    }
  }
}

/** Records after which the result of a call is no longer awaited. */
const OVER: ReadonlySet<string> = new Set(["toolAnswered", "callCancelled", "subscriptionEnded"]);

function isChild({ type, facts }: JournalRecord): boolean {
  return type === "created" && (facts as { parentThreadId: unknown }).parentThreadId !== null;
}
