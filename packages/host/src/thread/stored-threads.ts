import type { GitInfo, LoadSettings, NotificationName } from "@bobbin/protocol";
import type { Frame } from "@bobbin/rpc";
import type { Command } from "../core/commands.ts";
import { checkpointOf } from "../core/life/make-checkpoint.ts";
import type { ProjectDoc, ThreadFacts, ThreadSettings } from "../core/life/records.ts";
import { next } from "../core/next.ts";
import type { Durability } from "../core/record-table.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { outlives } from "../core/turn/dead-host-recovery.ts";
import { fault } from "../errors.ts";
import type { Platform } from "../platform/platform.ts";
import type { Claims } from "../store/claims.ts";
import type { Journal, JournalReader, ThreadJournal } from "../store/journal.ts";
import { type Head, readHead } from "../store/thread-head.ts";
import { commit, decideLetters } from "./commit.ts";
import { InitialCommits } from "./initial-commits.ts";
import type { SyncPolicy } from "./journal-sync-policy.ts";
import { type CommitCallback, letterOf } from "./mailbox.ts";
import { notificationFrame } from "./notification-frame.ts";
import type { ThreadObserver } from "./observers.ts";
import type { Recipient } from "./subscription.ts";
import { UnloadedThread } from "./unloaded-thread.ts";

/** Whether the caller may access threads of this owner. */
export type Access = (owner: string) => boolean;

/** The host itself may access all threads. */
export const ANYONE: Access = () => true;

export interface ThreadName {
  readonly id: string;
  readonly owner: string;
  /** The thread's subscribers. A broadcast leaves them out, because the thread itself notifies them. */
  readonly subscriptions?: { has(recipient: Recipient): boolean };
}

/** Content of a new thread. */
export interface StartRequest {
  readonly facts: ThreadFacts;
  readonly settings: ThreadSettings;
  readonly load: LoadSettings;
  readonly docs: readonly ProjectDoc[];
  readonly gitInfo?: GitInfo | null;
  /** The records of the thread's history, one list per commit. */
  readonly history?: AsyncIterable<readonly ThreadRecord[]>;
  /** The thread that the history is copied from. Its blobs are copied, too. */
  readonly origin?: JournalReader;
}

export interface StoredThreadsPorts {
  readonly journal: Journal;
  readonly claims: Claims;
  /** Storage of ephemeral threads. */
  readonly memory: Pick<Journal, "create">;
  readonly journalSync: SyncPolicy;
  /** Notifies every connection that may see the thread and is not subscribed. */
  broadcast(thread: ThreadName, method: NotificationName, frame: Frame): void;
  /** Whether tool servers have to be notified of the thread's changes. */
  mustNotify(state: ThreadState): boolean;
  readonly observers: Pick<Required<ThreadObserver>, "committed">;
  /** Adds commits to the index that a dead host did not add, or that the index lost in a power cut. */
  recovering(threadId: string): Promise<void>;
}

/** A journal that this host may write, and its head. */
export interface WritableThread {
  readonly journal: ThreadJournal;
  readonly head: Head;
}

/** Creates, opens and changes stored threads that have no actor. */
export class StoredThreads {
  readonly #ports: StoredThreadsPorts;
  readonly #platform: Pick<Platform, "clock" | "timers">;
  /**
   * The durability of changes to threads that are not loaded. Such a change has no other commits to share an fsync
   * with.
   */
  readonly #durability: Durability;
  /**
   * Threads for which clients were notified of the load's end, although the end could not be written. It is written
   * later, without another notification.
   */
  readonly #closeNotified = new Set<string>();

  constructor(ports: StoredThreadsPorts, platform: Pick<Platform, "clock" | "timers">) {
    this.#ports = ports;
    this.#platform = platform;
    this.#durability = ports.journalSync === "never" ? "written" : "synced";
  }

  async create({
    facts,
    settings,
    load,
    docs,
    gitInfo,
    history,
    origin,
  }: StartRequest): Promise<WritableThread> {
    const at = this.#platform.clock.now();
    const first: ThreadRecord[] = [{ type: "created", at, facts, settings, load, docs }];
    if (gitInfo != null) first.push({ type: "gitInfoChanged", at, gitInfo });
    const journal = await this.#ports[facts.ephemeral ? "memory" : "journal"].create(facts.id);
    const commits = new InitialCommits({
      journal,
      origin,
      timers: this.#platform.timers,
      durability: this.#ports.journalSync === "always" ? "synced" : "written",
    });
    try {
      await commits.begin(first);
      for await (const records of history ?? []) await commits.add(records);
      if (history !== undefined) await commits.add([checkpointOf(commits.head.state)]);
      await commits.write();
    } catch (cause) {
      // The client gets the first error. If the remainder of the thread cannot be removed, the next start closes that
      // thread.
      await journal.destroy().catch(() => {});
      // The index already contains the commits that were written.
      if (!facts.ephemeral) await this.#ports.recovering(facts.id).catch(() => {});
      throw cause;
    }
    return { journal, head: commits.head };
  }

  async open(id: string, access: Access): Promise<WritableThread> {
    const taken = await this.#ports.journal.open(id);
    if (taken === undefined) {
      const holder = await this.#startedBy(id, access);
      throw holder === undefined ? fault("noRollout", id) : fault("heldElsewhere", id, holder);
    }
    if (taken.kind === "held") {
      // The error names the other host only to callers that may see the thread.
      throw (await this.#mayRead(id, access)) ? fault("heldElsewhere", id, taken.by) : fault("noRollout", id);
    }
    const { journal } = taken;
    try {
      // Must happen before anything is appended: the index would take a row of a later commit as complete.
      if (journal.needsRecovery || (await this.#ports.claims.needsFullRecovery())) {
        await this.#ports.recovering(id);
        journal.markRecovered();
      }
      const head = await readHead(journal);
      if (head === undefined) throw fault("noRollout", id);
      if (!access(head.state.facts.owner)) throw fault("noRollout", id);
      // The previous host may have died after it closed the thread and before it notified tool servers.
      return await this.performDue({ journal, head });
    } catch (cause) {
      await journal.close();
      throw cause;
    }
  }

  /**
   * Performs the due effects of a thread that is not loaded: notices to tool servers. The notices are sent after the
   * commit that records them as handled. After a crash before that commit, the notices are sent later; after a crash
   * right after it, maybe never. They are never sent twice.
   */
  async performDue(held: WritableThread): Promise<WritableThread> {
    const { journal, head } = held;
    // The thread was loaded when its host died. Its notices are due when the load ends, or when the thread continues.
    if (head.state.status.type !== "notLoaded" || !this.#isAnythingDue(head.state)) return held;
    return {
      journal,
      head: await this.commit(held, { kind: "notifyToolServers", at: this.#platform.clock.now() }),
    };
  }

  #isAnythingDue(state: ThreadState): boolean {
    return next(state, null).length > 0 && this.#ports.mustNotify(state);
  }

  /** Remembers that clients were notified of the end of a load, although the end could not be written. */
  markCloseNotified(journal: ThreadJournal, threadId: string): void {
    this.#closeNotified.add(threadId);
    journal.markNeedsRecovery();
  }

  /** Closes the journal, and tries to recover the thread if its journal could not be written. */
  async closeAndRecover(threadId: string, journal: ThreadJournal): Promise<void> {
    await journal.close();
    await this.tryRecovery(threadId, journal);
  }

  /**
   * Tries to recover a thread whose journal could not be written, because the disk may work again. If that fails, the
   * next start recovers it.
   */
  async tryRecovery(threadId: string, { needsRecovery }: ThreadJournal): Promise<void> {
    if (!needsRecovery) return;
    const again = this.openEnded(threadId, ANYONE);
    await again.then(({ journal }) => journal.close()).catch(() => {});
  }

  /** Opens a thread, and ends a load that its host did not end. */
  async openEnded(id: string, access: Access): Promise<WritableThread> {
    return this.end(await this.open(id, access));
  }

  /** Whether the end of the last load is recorded, and clients and tool servers were notified of it. */
  isOver(state: ThreadState): boolean {
    if (state.status.type !== "notLoaded" || outlives(state)) return false;
    return !this.#isAnythingDue(state);
  }

  async end(held: WritableThread): Promise<WritableThread> {
    const { status, facts } = held.head.state;
    if (status.type === "notLoaded") return held;
    try {
      const close: Command = { kind: "close", at: this.#platform.clock.now(), reason: "lost" };
      const alreadyNotified = this.#closeNotified.has(facts.id) ? { has: () => true } : undefined;
      const head = await this.commit(held, close, undefined, alreadyNotified);
      return await this.performDue({ journal: held.journal, head });
    } catch (cause) {
      await held.journal.close();
      throw cause;
    }
  }

  /** Whether a caller may see a thread. Only then may the caller learn which host has the thread loaded. */
  async #mayRead(id: string, access: Access): Promise<boolean> {
    if (access === ANYONE) return true;
    return this.read(id, access, async () => true).catch(() => false);
  }

  /** Reads a thread that this host has not loaded. */
  async read<T>(
    threadId: string,
    access: Access,
    look: (journal: JournalReader, head: Head) => Promise<T>,
  ): Promise<T> {
    const reader = await this.#ports.journal.read(threadId);
    if (reader === undefined) throw fault("threadNotLoaded", threadId);
    try {
      const head = await readHead(reader);
      if (head === undefined) throw fault("threadNotLoaded", threadId);
      if (!access(head.state.facts.owner)) throw fault("threadNotLoaded", threadId);
      return await look(reader, head);
    } finally {
      await reader.close();
    }
  }

  /** The other host that has a thread loaded, if there is one and the caller may see the thread. */
  async holderOf(id: string, access: Access): Promise<string | undefined> {
    const holder = await this.#ports.claims.holder(id);
    if (holder === undefined) return this.#startedBy(id, access);
    return (await this.#mayRead(id, access)) ? holder : undefined;
  }

  /** The other host that has started a thread and not stored it yet, if the caller may see the thread. */
  async #startedBy(id: string, access: Access): Promise<string | undefined> {
    const started = await this.#ports.claims.starting(id);
    return started !== undefined && access(started.owner) ? started.hostId : undefined;
  }

  /** Runs a command on a thread that is not loaded: decides it, commits it durably, and notifies clients. */
  async commit(
    { journal, head }: WritableThread,
    command: Command,
    committed?: CommitCallback,
    subscriptions: ThreadName["subscriptions"] = { has: () => false },
  ): Promise<Head> {
    const { facts } = head.state;
    const thread = new UnloadedThread(journal, head, {
      durability: this.#durability,
      broadcast: ({ method, params }) => {
        const frame = notificationFrame(method, params, this.#platform.clock.now());
        this.#ports.broadcast({ ...facts, subscriptions }, method, frame);
      },
    });
    const letter = letterOf(command, committed, true);
    // The result is awaited below. Until then, a rejection must not count as unhandled.
    letter.answered.catch(() => {});
    try {
      const ports = { platform: this.#platform, observers: this.#ports.observers };
      await commit(thread, decideLetters(thread, [letter], head.state, head.seq), ports);
    } catch (cause) {
      // It is unknown whether the commit is in the journal. If it recorded a load, clients were not notified of that
      // load, so they are not notified of its end either.
      if (!thread.isWritten) this.markCloseNotified(journal, facts.id);
      throw cause;
    } finally {
      if (thread.isWritten) this.#closeNotified.delete(facts.id);
    }
    await letter.answered;
    return thread.head;
  }
}
