import type { Commit } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { JournalReader } from "../store/journal.ts";
import type { Actor } from "./actor.ts";

/** The thread of a commit. */
export interface CommittedThread {
  readonly journal: JournalReader;
  /** Undefined if the thread is not loaded. */
  readonly actor: Actor | undefined;
}

/**
 * A part of the host that follows the changes of all threads, including ephemeral ones. Its methods must not block.
 */
export interface ThreadObserver {
  /** Called when a thread was loaded, before it does anything. */
  loaded?(actor: Actor, state: ThreadState): void;
  /**
   * Called after each commit, once the commit is durable and clients were notified. Not called for the history that a
   * fork copies.
   */
  committed?(commit: Commit, state: ThreadState, thread: CommittedThread): void;
  /** Called when the thread has failed (see `Actor.broken`). Its running turn has ended. */
  failed?(actor: Actor, cause: unknown): void;
  /** The thread was unloaded. */
  unloaded?(actor: Actor): void;
}

/** Calls all observers in order; in reverse order when a thread is unloaded. */
export class Observers implements Required<ThreadObserver> {
  readonly #observers: readonly ThreadObserver[];
  readonly #supervisor: Supervisor;

  constructor(observers: readonly ThreadObserver[], supervisor: Supervisor) {
    this.#observers = observers;
    this.#supervisor = supervisor;
  }

  /** Rethrows the first error of an observer, which makes the thread fail. */
  loaded(actor: Actor, state: ThreadState): void {
    for (const observer of this.#observers) observer.loaded?.(actor, state);
  }

  /** Rethrows the first error of an observer, which makes the thread fail. */
  committed(commit: Commit, state: ThreadState, thread: CommittedThread): void {
    for (const observer of this.#observers) observer.committed?.(commit, state, thread);
  }

  /** If an observer throws, the others are still called. */
  failed(actor: Actor, cause: unknown): void {
    for (const observer of this.#observers)
      this.#reported(`following the failed thread ${actor.id}`, () => observer.failed?.(actor, cause));
  }

  unloaded(actor: Actor): void {
    for (const observer of this.#observers.toReversed())
      this.#reported(`following the end of thread ${actor.id}`, () => observer.unloaded?.(actor));
  }

  #reported(what: string, call: () => void): void {
    try {
      call();
    } catch (cause) {
      this.#supervisor.report(what, cause);
    }
  }
}
