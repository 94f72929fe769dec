import type { GitInfo, LoadSettings, NotificationName } from "@bobbin/protocol";
import type { Frame } from "@bobbin/rpc";
import type { Command } from "../core/commands.ts";
import { decide } from "../core/decide.ts";
import { fold } from "../core/fold.ts";
import type { ProjectDoc, ThreadFacts, ThreadSettings } from "../core/life/records.ts";
import { notify } from "../core/notify.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { threadTime } from "../core/thread-time.ts";
import { outlives } from "../core/turn/restart.ts";
import { Fault, fault } from "../errors.ts";
import { append, type Journal, type JournalReader, type ThreadJournal } from "../journal/journal.ts";
import { type Head, recall } from "../journal/recall.ts";
import { saved } from "../journal/saved.ts";
import type { Clock } from "../platform/platform.ts";
import { FirstCommits } from "./first-commits.ts";
import { notificationFrame } from "./notification-frame.ts";
import type { Recipient } from "./subscription.ts";
import type { SyncPolicy } from "./sync-policy.ts";

/** Throws if a thread of this owner is not the caller's to touch. */
export type Access = (owner: string) => boolean;

/** For what the host does by itself. */
export const ANYONE: Access = () => true;

export interface ThreadName {
  readonly id: string;
  readonly owner: string;
  /** Those who are told in another way: the ones who follow it, say. */
  readonly subscriptions?: { has(recipient: Recipient): boolean };
}

/** What a new thread is made of. */
export interface StartRequest {
  readonly facts: ThreadFacts;
  readonly settings: ThreadSettings;
  readonly load: LoadSettings;
  readonly docs: readonly ProjectDoc[];
  readonly gitInfo?: GitInfo | null;
  /** What it starts with, a commit at a time. */
  readonly history?: AsyncIterable<readonly ThreadRecord[]>;
  /** Whose history that is: what it keeps beside it is taken over. */
  readonly origin?: JournalReader;
}

export interface StoredPorts {
  readonly journal: Journal;
  /** Where ephemeral threads are kept. */
  readonly memory: Pick<Journal, "create">;
  readonly journalSync: SyncPolicy;
  /** Tells every connection that may see the thread and does not follow it. */
  broadcast(thread: ThreadName, method: NotificationName, frame: Frame): void;
  /** Whether someone besides clients has to be told that a thread was closed. */
  mustTellClosed(state: ThreadState): boolean;
  tellClosed(state: ThreadState): void;
  /** Every commit of every stored thread. */
  committed(commit: Commit, state: ThreadState, journal: JournalReader): void;
  /** What a host that is gone had not told the index of a thread, or a power cut took, is made good there. */
  recovering(threadId: string): Promise<void>;
}

/** A thread's journal, held for writing, and what it says. */
export interface Held {
  readonly journal: ThreadJournal;
  readonly head: Head;
}

/** Threads as they are kept: made, taken, and changed while no actor has them. */
export class Stored {
  readonly #ports: StoredPorts;
  readonly #clock: Clock;
  /** Their last load is over as far as anyone was told, and that could not be written: it is written later, and not told. */
  readonly #told = new Set<string>();

  constructor(ports: StoredPorts, clock: Clock) {
    this.#ports = ports;
    this.#clock = clock;
  }

  async create({ facts, settings, load, docs, gitInfo, history, origin }: StartRequest): Promise<Held> {
    const at = this.#clock.now();
    const first: ThreadRecord[] = [{ type: "created", at, facts, settings, load, docs }];
    if (gitInfo != null) first.push({ type: "gitInfoChanged", at, gitInfo });
    const journal = await this.#ports[facts.ephemeral ? "memory" : "journal"].create(facts.id);
    const commits = new FirstCommits({
      journal,
      origin,
      synced: this.#ports.journalSync === "always",
      committed: (commit, state) => {
        if (!facts.ephemeral) this.#ports.committed(commit, state, journal);
      },
    });
    try {
      await commits.begin(first);
      for await (const records of history ?? []) await commits.add(records);
      if (history !== undefined) await commits.add([{ type: "checkpoint", state: commits.head.state }]);
      await commits.write();
    } catch (cause) {
      // What made it fail is what the client has to know; half a thread that stays is closed at the next start.
      await journal.destroy().catch(() => {});
      // What of it was written is listed already.
      if (!facts.ephemeral) await this.#ports.recovering(facts.id).catch(() => {});
      throw cause;
    }
    return { journal, head: commits.head };
  }

  async open(id: string, access: Access): Promise<Held> {
    const journal = await this.#ports.journal.open(id).catch(async (cause: unknown) => {
      const isHeld = cause instanceof Fault && cause.code === "heldElsewhere";
      if (isHeld && !(await this.#mayRead(id, access))) return undefined;
      throw cause;
    });
    if (journal === undefined) throw fault("noRollout", id);
    try {
      // Before anything is added: the index takes whatever is new for all that there is.
      if (journal.undone || (await this.#ports.journal.lostPower())) {
        await this.#ports.recovering(id);
        journal.madeGood();
      }
      const head = await recall(journal);
      if (head === undefined) throw fault("noRollout", id);
      if (!access(head.state.facts.owner)) throw fault("noRollout", id);
      // Its host may have died between the closing and this.
      return await this.tellClosed({ journal, head });
    } catch (cause) {
      await journal.close();
      throw cause;
    }
  }

  /**
   * Tells those who have to know that a thread was closed. That they are told is written first: after a crash in
   * between nobody is told twice, and some may not be told at all.
   */
  async tellClosed(held: Held): Promise<Held> {
    const { state, seq } = held.head;
    if (!state.untold || !this.#ports.mustTellClosed(state)) return held;
    const record: ThreadRecord = { type: "notified", at: threadTime(state, this.#clock.now()) };
    const commit: Commit = { seq: seq + 1, epoch: state.epoch, prev: seq, records: [record] };
    await append(held.journal, commit);
    if (this.#ports.journalSync !== "never") await saved(() => held.journal.sync());
    this.#ports.tellClosed(state);
    const head: Head = { state: fold(state, record), seq: commit.seq };
    this.#ports.committed(commit, head.state, held.journal);
    return { journal: held.journal, head };
  }

  /** The end of a load was told, and could not be written. */
  toldClosed(journal: ThreadJournal, threadId: string): void {
    this.#told.add(threadId);
    journal.leaveUndone();
  }

  async giveBack(threadId: string, journal: ThreadJournal): Promise<void> {
    await journal.close();
    await this.makeGood(threadId, journal);
  }

  /** What was left undone is done, if it can be now: a disk that failed may be well again. If not, the next start does it. */
  async makeGood(threadId: string, { undone }: ThreadJournal): Promise<void> {
    if (!undone) return;
    const again = this.openEnded(threadId, ANYONE);
    await again.then(({ journal }) => journal.close()).catch(() => {});
  }

  /** Like `open`; a load that its host did not get to end is ended first, because no start will look for it again. */
  async openEnded(id: string, access: Access): Promise<Held> {
    return this.end(await this.open(id, access));
  }

  /** Whether a thread's last load has its end, which everyone has been told. */
  isOver(state: ThreadState): boolean {
    const { status, untold } = state;
    if (status.type !== "notLoaded" || outlives(state)) return false;
    return !untold || !this.#ports.mustTellClosed(state);
  }

  async end(held: Held): Promise<Held> {
    const { status, facts } = held.head.state;
    if (status.type === "notLoaded") return held;
    try {
      const close: Command = { kind: "close", at: this.#clock.now(), reason: "lost" };
      const told = this.#told.has(facts.id) ? { has: () => true } : undefined;
      const head = await this.commit(held, close, undefined, told);
      return await this.tellClosed({ journal: held.journal, head });
    } catch (cause) {
      await held.journal.close();
      throw cause;
    }
  }

  /** Which host holds a thread is told only to those who may see the thread. */
  async #mayRead(id: string, access: Access): Promise<boolean> {
    if (access === ANYONE) return true;
    return this.read(id, access, async () => true).catch(() => false);
  }

  /** Looks at a thread that nobody here has loaded. */
  async read<T>(
    threadId: string,
    access: Access,
    look: (journal: JournalReader, head: Head) => Promise<T>,
  ): Promise<T> {
    const reader = await this.#ports.journal.read(threadId);
    if (reader === undefined) throw fault("threadNotLoaded", threadId);
    try {
      const head = await recall(reader);
      if (head === undefined) throw fault("threadNotLoaded", threadId);
      if (!access(head.state.facts.owner)) throw fault("threadNotLoaded", threadId);
      return await look(reader, head);
    } finally {
      await reader.close();
    }
  }

  /** The other host that has a thread loaded, if one does and the thread may be seen. */
  async holderOf(id: string, access: Access): Promise<string | undefined> {
    const holder = await this.#ports.journal.holder(id);
    return holder !== undefined && (await this.#mayRead(id, access)) ? holder : undefined;
  }

  /** One command on a thread that no actor has: decided, written, synced, told to everyone. */
  async commit(
    { journal, head: { state, seq } }: Held,
    command: Command,
    committed: (state: ThreadState, records: readonly ThreadRecord[]) => void = () => {},
    subscriptions: ThreadName["subscriptions"] = { has: () => false },
  ): Promise<Head> {
    const decision = decide(state, command, new Map());
    if (decision.kind === "refused") throw decision.fault;
    const { facts, epoch } = decision.state;
    const records = withCheckpoint(decision.records, decision.state);
    if (records.length === 0) {
      committed(decision.state, decision.records);
      return { state, seq };
    }
    const commit: Commit = { seq: seq + 1, epoch, prev: seq, records };
    try {
      await append(journal, commit);
      if (this.#ports.journalSync !== "never") await saved(() => journal.sync());
    } catch (cause) {
      // It may be there, or come back: a load that nobody was told of is ended, and nobody is told of that, either.
      this.toldClosed(journal, facts.id);
      throw cause;
    }
    this.#told.delete(facts.id);
    let failure: unknown;
    try {
      committed(decision.state, decision.records);
    } catch (cause) {
      // It is written, whether or not whoever asked could be told.
      failure = cause;
    }
    for (const record of records) {
      for (const { method, params, audience } of notify(facts.id, record)) {
        if (audience !== "everyone") continue;
        const frame = notificationFrame(method, params, this.#clock.now());
        this.#ports.broadcast({ ...facts, subscriptions }, method, frame);
      }
    }
    this.#ports.committed(commit, decision.state, journal);
    if (failure !== undefined) throw failure;
    return { state: decision.state, seq: commit.seq };
  }
}

/** A load reads back to the last checkpoint. */
function withCheckpoint(records: readonly ThreadRecord[], state: ThreadState): readonly ThreadRecord[] {
  return records.some(({ type }) => type === "closed")
    ? [...records, { type: "checkpoint", state }]
    : records;
}
