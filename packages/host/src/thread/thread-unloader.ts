import type { NotificationName, NotificationParams } from "@bobbin/protocol";
import type { Command } from "../core/commands.ts";
import type { UnloadReason } from "../core/life/records.ts";
import type { Supervisor } from "../observe/supervise.ts";
import { eachFewAtOnce } from "../platform/concurrency-limit.ts";
import type { Cancel, Platform } from "../platform/platform.ts";
import type { ThreadJournal } from "../store/journal.ts";
import type { Head } from "../store/thread-head.ts";
import type { Actor } from "./actor.ts";
import type { HibernationOrder } from "./hibernation-order.ts";
import type { LoadedAndBusyThreads } from "./loaded-and-busy-threads.ts";
import type { LoadedChildren } from "./loaded-children.ts";
import type { ThreadObserver } from "./observers.ts";
import type { StoredThreads, WritableThread } from "./stored-threads.ts";

/** How long an unload waits for lagging subscribers. */
const LAGGING_MS = 2000;
/** The number of threads that are closed at a time at shutdown. Closing may have to open the thread's journal. */
const AT_ONCE = 32;

/** Closes a thread's journal, possibly after more work on it. */
export type Release = (journal: ThreadJournal) => Promise<void>;

/** The numbers of threads that were closed and parked at shutdown. */
export interface ShutdownCounts {
  readonly closed: number;
  /** Threads that wait for something. They are left unchanged for the next host. */
  readonly parked: number;
}

interface ThreadUnloaderPorts {
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  readonly slots: LoadedAndBusyThreads;
  readonly stored: StoredThreads;
  readonly family: LoadedChildren;
  readonly residents: HibernationOrder;
  /** Stops everything that the thread has started. `ending`: at shutdown. */
  leaving(actor: Actor, ending: boolean): Promise<void> | undefined;
  readonly observers: Pick<Required<ThreadObserver>, "unloaded">;
  announce<N extends NotificationName>(actor: Actor, method: N, params: NotificationParams<N>): void;
  /** Whether the host is shutting down. */
  ending(): boolean;
}

/** Unloads and parks threads. */
export class ThreadUnloader {
  readonly #ports: ThreadUnloaderPorts;
  /** Callbacks of threads whose close is not durable yet. */
  readonly #closings = new Map<Actor, (() => void)[]>();

  constructor(ports: ThreadUnloaderPorts) {
    this.#ports = ports;
  }

  unload(
    actor: Actor,
    reason: UnloadReason,
    committed: () => void = () => {},
    release: Release = (journal) => journal.close(),
  ): Promise<void> {
    const { slots, residents } = this.#ports;
    const slot = slots.get(actor.id);
    // The thread is already being unloaded, for example by a timer. This call waits for that unload.
    if (slot?.kind !== "loaded" || slot.actor !== actor) {
      const waiting = this.#closings.get(actor);
      if (waiting === undefined) committed();
      else waiting.push(committed);
      return slot?.kind === "busy" ? slot.done : Promise.resolve();
    }
    const waiting = [committed];
    this.#closings.set(actor, waiting);
    residents.delete(actor);
    return slots.occupy(actor.id, async () => {
      await this.#unloadChildren(actor, reason);
      await this.#leave(actor);
      await this.#close(actor, reason, () => {
        this.#closings.delete(actor);
        for (const one of waiting.splice(0)) one();
      });
      // At shutdown the unload does not wait for lagging subscribers: a connection delivers the rest when it closes.
      await actor.subscriptions.finish(this.#ports.ending() ? undefined : this.#startTimer);
      this.#gone(actor);
      await release(actor.journal).finally(() => this.#ports.stored.tryRecovery(actor.id, actor.journal));
    });
  }

  /** Ends all threads at shutdown: those that wait for something outside are parked, the others are unloaded. */
  async all(actors: readonly Actor[], reason: UnloadReason): Promise<ShutdownCounts> {
    const [parked, closed] = [staying(actors, true), staying(actors, false)];
    // Waiting threads are parked first: a thread that waits for a helper must not continue because the shutdown
    // closes the helper.
    await eachFewAtOnce(AT_ONCE, parked, (actor) => this.#reported(actor, this.#park(actor)));
    await eachFewAtOnce(AT_ONCE, closed, (actor) => this.#reported(actor, this.unload(actor, reason)));
    return { closed: closed.length, parked: parked.length };
  }

  async #unloadChildren(actor: Actor, reason: UnloadReason): Promise<void> {
    const children = this.#ports.family.childrenOf(actor);
    await Promise.all(
      children.map((child) => this.#reported(child, this.unload(child, reasonBelow(actor, child, reason)))),
    );
  }

  async #leave(actor: Actor): Promise<void> {
    const leaving = this.#ports.leaving(actor, this.#ports.ending());
    if (leaving !== undefined) await this.#reported(actor, leaving);
  }

  /** Reports an error instead of throwing it, so that the other threads are still unloaded. */
  async #reported(actor: Actor, done: Promise<void>): Promise<void> {
    await done.catch((cause) => this.#ports.supervisor.report(`unloading thread ${actor.id}`, cause));
  }

  async #close(actor: Actor, reason: UnloadReason, committed: () => void): Promise<void> {
    const { supervisor, announce } = this.#ports;
    let head: Head;
    try {
      head = await actor.close(reason, committed);
    } catch (cause) {
      // The journal cannot be written. The thread is still unloaded, and clients are notified. The next host that
      // opens the thread records its close and notifies tool servers.
      supervisor.report(`closing thread ${actor.id}`, cause);
      this.#ports.stored.markCloseNotified(actor.journal, actor.id);
      committed();
      announce(actor, "thread/status/changed", { threadId: actor.id, status: { type: "notLoaded" } });
      // Clients get `thread/archived` or `thread/deleted` instead.
      if (reason !== "archived" && reason !== "deleted")
        announce(actor, "thread/closed", { threadId: actor.id });
      return;
    }
    await this.#performDue({ journal: actor.journal, head });
  }

  async #performDue(held: WritableThread): Promise<void> {
    try {
      await this.#ports.stored.performDue(held);
    } catch (cause) {
      this.#ports.supervisor.report(`notifying tool servers of thread ${held.head.state.facts.id}`, cause);
    }
  }

  /**
   * Parks a thread that another host has taken over, and its children, whose claims are released for that host.
   * Nothing is written, and tool servers are not notified. Clients of this host see the thread as closed, because
   * hosts do not forward requests.
   */
  async moved(actor: Actor): Promise<void> {
    const { slots, residents, family, announce } = this.#ports;
    // The thread is already being unloaded.
    if (!slots.has(actor)) return;
    const settled = actor.moved();
    residents.delete(actor);
    await slots.occupy(actor.id, async () => {
      const children = family.childrenOf(actor).map((child) => this.#reported(child, this.moved(child)));
      await Promise.all([settled, ...children]);
      announce(actor, "thread/status/changed", { threadId: actor.id, status: { type: "notLoaded" } });
      announce(actor, "thread/closed", { threadId: actor.id });
      await actor.subscriptions.finish(this.#startTimer);
      this.#gone(actor);
      await actor.journal.rest();
      // Closing releases only a claim of this host, not the one that the other host has taken.
      await actor.journal.close();
    });
  }

  /** Leaves a thread to the next host. The claim stays, so that the next start finds the thread. */
  async #park(actor: Actor): Promise<void> {
    const { slots, platform, supervisor } = this.#ports;
    await slots.occupy(actor.id, async () => {
      if (actor.activeTurn !== undefined && !actor.waits) {
        // A turn that runs in this host cannot continue in another one.
        const interrupt: Command = { kind: "interrupt", at: platform.clock.now(), turnId: null };
        await actor.submit(interrupt).catch(() => {});
      }
      await actor.park().catch((cause) => supervisor.report(`parking thread ${actor.id}`, cause));
      await actor.subscriptions.finish(undefined);
      this.#gone(actor);
      await actor.journal.rest();
    });
  }

  #gone(actor: Actor): void {
    this.#ports.observers.unloaded(actor);
    this.#ports.family.leave(actor);
  }

  readonly #startTimer = (ended: () => void): Cancel => {
    return this.#ports.platform.timers.after(LAGGING_MS, ended);
  };
}

/** The unload reason of a child thread. Only helpers are archived and deleted with their parent. */
function reasonBelow({ helpers }: Actor, { id }: Actor, reason: UnloadReason): UnloadReason {
  if (reason === "archived" || reason === "deleted") return helpers.includes(id) ? reason : "requested";
  return reason === "shutdown" ? reason : "requested";
}

/** The threads that are parked at shutdown (`stays`), or the others. */
function staying(actors: readonly Actor[], stays: boolean): readonly Actor[] {
  return actors.filter((actor) => (!actor.ephemeral && (actor.waits || actor.live)) === stays);
}
