import type { JournalLocation } from "../core/life/thread-view.ts";
import type { ThreadState } from "../core/state.ts";
import { Fault, fault } from "../errors.ts";
import type { ThreadQueries } from "../history/thread-queries.ts";
import type { ThreadJournal } from "../store/journal.ts";
import type { Head } from "../store/thread-head.ts";
import type { ThreadIndex } from "../store/thread-index.ts";
import type { IdempotentStarts } from "./idempotent-starts.ts";
import type { Announce, Registry } from "./registry.ts";
import { type Access, ANYONE } from "./stored-threads.ts";

export interface ThreadArchivePorts {
  readonly registry: Registry;
  readonly index: Pick<ThreadIndex, "mustBeOnDisk">;
  readonly lists: Pick<ThreadQueries, "descendantHelpers">;
  readonly idempotentStarts: Pick<IdempotentStarts, "forget">;
}

/** Changes how a thread is stored. Returns a function that notifies clients. */
type Work = (journal: ThreadJournal, head: Head, announce: Announce) => Promise<() => void>;

/** Archives, unarchives and deletes threads, each with the threads of its helpers. */
export class ThreadArchive {
  readonly #ports: ThreadArchivePorts;

  constructor(ports: ThreadArchivePorts) {
    this.#ports = ports;
  }

  /** `done`: called before clients are notified. */
  archive(threadId: string, access: Access, done: () => void): Promise<void> {
    const { registry } = this.#ports;
    return registry.withStored(threadId, access, "archived", async (journal, head, announce) => {
      if (journal.place.archived) throw fault("noRollout", threadId);
      const notifyHelpers = await this.#withHelpers(head.state, false, "archived", this.#archive);
      const notify = await this.#archive(journal, head, announce);
      done();
      notify();
      notifyHelpers();
    });
  }

  /** `done`: called before clients are notified. */
  async unarchive(
    threadId: string,
    access: Access,
    done: (state: ThreadState, place: JournalLocation) => void,
  ): Promise<void> {
    const { registry } = this.#ports;
    // An archived thread is never loaded. This check comes first, so that a loaded thread is not unloaded in vain.
    if ((await registry.findLoaded(threadId, access)) !== undefined) throw fault("notArchived", threadId);
    const unarchived = registry.withStored(threadId, access, "requested", async (journal, head, announce) => {
      if (!journal.place.archived) throw fault("notArchived", threadId);
      const { state } = head;
      const notify = await this.#unarchive(journal, head, announce);
      done({ ...state, status: { type: "notLoaded" } }, journal.place);
      notify();
      const notifyHelpers = await this.#withHelpers(state, true, "requested", this.#unarchive);
      notifyHelpers();
    });
    await unarchived.catch((cause: unknown) => {
      throw cause instanceof Fault && cause.code === "noRollout" ? fault("notArchived", threadId) : cause;
    });
  }

  /** `done`: called before clients are notified. */
  async delete(threadId: string, access: Access, done: () => void): Promise<void> {
    const { registry, index } = this.#ports;
    // Checked before the unload: if the index could not remove the thread, lists and searches would still show it.
    await index.mustBeOnDisk();
    await registry.withStored(threadId, access, "deleted", async (journal, head, announce) => {
      const notifications = [
        await this.#withHelpers(head.state, false, "deleted", this.#remove),
        await this.#withHelpers(head.state, true, "deleted", this.#remove),
        await this.#remove(journal, head, announce),
      ];
      done();
      for (const notify of notifications) notify();
    });
  }

  readonly #archive: Work = (...args) => this.#move(true, "thread/archived", ...args);
  readonly #unarchive: Work = (...args) => this.#move(false, "thread/unarchived", ...args);

  async #move(
    archived: boolean,
    method: "thread/archived" | "thread/unarchived",
    ...[journal, head, announce]: Parameters<Work>
  ): Promise<() => void> {
    try {
      await journal.archive(archived, head);
    } finally {
      await journal.close();
    }
    return () => announce(method, { threadId: head.state.facts.id });
  }

  readonly #remove: Work = async (journal, { state: { facts } }, announce) => {
    if (facts.startKey !== undefined) await this.#ports.idempotentStarts.forget(facts.startKey);
    await journal.destroy();
    return () => announce("thread/deleted", { threadId: facts.id });
  };

  /**
   * Applies `work` to the threads of a thread's helpers. Returns a function that notifies clients; call it after
   * clients were notified about the thread itself.
   */
  async #withHelpers(
    { facts, helpers }: ThreadState,
    archived: boolean,
    reason: "archived" | "deleted" | "requested",
    work: Work,
  ): Promise<() => void> {
    const { registry, lists } = this.#ports;
    const notifications: (() => void)[] = [];
    for (const id of helpers.had ? await lists.descendantHelpers(facts.id, archived) : []) {
      const done = registry.withStored(id, ANYONE, reason, async (journal, head, announce) => {
        notifications.push(await work(journal, head, announce));
      });
      await done.catch((cause: unknown) => {
        // The index may still list a thread that was just deleted.
        if (!(cause instanceof Fault) || cause.code !== "noRollout") throw cause;
      });
    }
    return () => {
      for (const notify of notifications) notify();
    };
  }
}
