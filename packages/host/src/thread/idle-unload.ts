import type { Presence, Unattended } from "../core/unattended-thread.ts";
import type { Cancel, Clock, Timers } from "../platform/platform.ts";
import type { Actor } from "./actor.ts";
import type { Cursor, Recipient } from "./subscription.ts";

export interface IdlePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** How long requests wait for an answer while no client uses the thread. */
  readonly requestDeadlineMs: number;
  unload(actor: Actor): void;
  /** Called when the last client has left a thread, and when a client is back. */
  presenceChanged(actor: Actor): void;
  /** Called when a subscriber has left a thread that still has other subscribers. */
  left(actor: Actor): void;
  /** Called when a client has started to follow the thread. */
  followed(actor: Actor): void;
  /** The loaded parent of a thread. */
  parentOf(actor: Actor): Actor | undefined;
  /** The loaded child threads of a thread. */
  childrenOf(actor: Actor): readonly Actor[];
}

/** How long requests to clients stay open after their thread was taken over from a dead host: clients may reconnect. */
const COMEBACK_MS = 60_000;

/**
 * A thread that no client uses. It is unloaded after the delay that its last client asked for, unless it is active.
 */
interface Leaving {
  readonly delayMs: number;
  /** Null while a client uses one of the thread's parents. */
  unattended: Unattended | null;
  /** Since when the thread is not active, by the monotonic clock; undefined while it is active. */
  idleSince: number | undefined;
  /** Cancels the timer of the delay. */
  cancel: Cancel | undefined;
}

/** Tracks which connections use which threads, and unloads threads that no connection uses. */
export class Idle {
  readonly #ports: IdlePorts;
  readonly #followed = new Map<Recipient, Set<Actor>>();
  readonly #leaving = new Map<Actor, Leaving>();
  /** Closed connections with their unload delays. A pending request of a closed connection may still be served. */
  readonly #gone = new WeakMap<Recipient, number>();

  constructor(ports: IdlePorts) {
    this.#ports = ports;
  }

  follow(actor: Actor, recipient: Recipient, after?: Cursor): void {
    actor.subscriptions.add(recipient, after);
    const followed = this.#followed.get(recipient) ?? new Set();
    this.#followed.set(recipient, followed.add(actor));
    this.forget(actor);
    this.#ports.followed(actor);
    this.#observeBelow(actor, recipient);
    const delayMs = this.#gone.get(recipient);
    if (delayMs !== undefined) this.leave(actor, recipient, delayMs);
  }

  /** Makes a follower of a thread observe its child threads, too. */
  #observeBelow(actor: Actor, recipient: Recipient): void {
    for (const child of this.#ports.childrenOf(actor)) {
      this.observe(child, recipient);
      this.#observeBelow(child, recipient);
      this.consider(child);
    }
  }

  /** Makes the followers of the parent observe a thread that was just loaded. */
  observeFromAbove(actor: Actor): void {
    const parent = this.#ports.parentOf(actor);
    if (parent === undefined) return;
    for (const { recipient } of parent.subscriptions) this.observe(actor, recipient);
  }

  /** Adds an observer: a subscriber that does not keep the thread loaded. */
  observe(actor: Actor, recipient: Recipient): void {
    if (this.#gone.has(recipient) || actor.subscriptions.has(recipient)) return;
    actor.subscriptions.observe(recipient);
    const followed = this.#followed.get(recipient) ?? new Set();
    this.#followed.set(recipient, followed.add(actor));
  }

  /** Called when the thread was loaded for work of its own, not for a client. It is unloaded when that work is done. */
  forNobody(actor: Actor): void {
    this.#abandoned(actor, 0);
  }

  /** Removes a subscriber. Returns false if the recipient was not subscribed. */
  leave(actor: Actor, recipient: Recipient, delayMs: number): boolean {
    if (!actor.subscriptions.remove(recipient)) return false;
    const followed = this.#followed.get(recipient);
    followed?.delete(actor);
    if (followed?.size === 0) this.#followed.delete(recipient);
    if (actor.subscriptions.size > 0) this.#ports.left(actor);
    // Observers do not keep a thread loaded.
    if (actor.subscriptions.retaining === 0 && !this.#leaving.has(actor)) this.#abandoned(actor, delayMs);
    for (const child of this.#ports.childrenOf(actor)) {
      if (!actor.subscriptions.has(recipient) && !child.subscriptions.retains(recipient))
        this.leave(child, recipient, delayMs);
      this.consider(child);
    }
    return true;
  }

  /**
   * Called when the thread was taken over from a dead host, and has no client yet. Its requests stay open for a while
   * (`COMEBACK_MS`), because clients may reconnect.
   */
  adopted(actor: Actor, delayMs: number): void {
    this.#abandoned(actor, delayMs, Math.max(0, this.#ports.requestDeadlineMs - COMEBACK_MS));
  }

  /** Called when the thread was loaded for a client that could not join it. */
  refused(actor: Actor, delayMs: number): void {
    if (actor.subscriptions.retaining > 0 || this.#leaving.has(actor)) return;
    this.#abandoned(actor, delayMs);
  }

  /** Called when no client uses the thread. `agoMs`: how long ago the last client left. */
  #abandoned(actor: Actor, delayMs: number, agoMs = 0): void {
    const unattended = this.#isAttended(actor) ? null : this.#unattended(agoMs);
    this.#leaving.set(actor, { delayMs, unattended, idleSince: undefined, cancel: undefined });
    this.#ports.presenceChanged(actor);
    this.consider(actor);
  }

  #unattended(agoMs: number): Unattended {
    const { clock, requestDeadlineMs: questionDeadlineMs } = this.#ports;
    return { since: clock.now() - agoMs, questionDeadlineMs };
  }

  /** Called when a connection was closed. */
  left(recipient: Recipient, delayMs: number): void {
    this.#gone.set(recipient, delayMs);
    for (const actor of [...(this.#followed.get(recipient) ?? [])]) this.leave(actor, recipient, delayMs);
  }

  /** Called after each change of a thread. Unloads the thread, or starts its unload delay, if it is not active. */
  consider(actor: Actor): void {
    const leaving = this.#leaving.get(actor);
    if (leaving === undefined) return;
    this.#look(actor, leaving);
    // A broken thread's turn never ends, so it does not count as activity.
    const running = !actor.broken && (actor.activeTurn !== undefined || actor.busy);
    const active = running || actor.waits || actor.live || this.isOpenHelper(actor);
    if (active || leaving.idleSince === undefined) {
      leaving.cancel?.();
      leaving.cancel = undefined;
      leaving.idleSince = active ? undefined : this.#ports.clock.monotonic();
    }
    // Not during a resume: the resume would succeed for a thread that is unloaded a moment later.
    if (actor.visited) return;
    if (active || actor.requests.length > 0) return;
    const remaining = this.#remaining(leaving)!;
    if (remaining === 0) return this.#unload(actor);
    leaving.cancel?.();
    leaving.cancel = this.#ports.timers.after(remaining, () => {
      leaving.cancel = undefined;
      this.consider(actor);
    });
  }

  /** Whether a client uses the thread or one of its parents, and if not, since when. */
  presenceOf(actor: Actor): Presence {
    return this.#leaving.get(actor)?.unattended ?? null;
  }

  /** Updates the presence of clients, because clients of a parent may have come or left. */
  #look(actor: Actor, leaving: Leaving): void {
    const isAttended = this.#isAttended(actor);
    if (isAttended === (leaving.unattended === null)) return;
    leaving.unattended = isAttended ? null : this.#unattended(0);
    this.#ports.presenceChanged(actor);
  }

  /** Whether the thread is an open helper, which its parent closes. */
  isOpenHelper(actor: Actor): boolean {
    return this.#ports.parentOf(actor)?.helpers.includes(actor.id) ?? false;
  }

  /** Whether a client uses one of the thread's parents. Such a client is sent the thread's requests. */
  #isAttended(actor: Actor): boolean {
    const parent = this.#ports.parentOf(actor);
    if (parent === undefined) return false;
    return parent.subscriptions.retaining > 0 || this.#isAttended(parent);
  }

  /** The remaining time of the unload delay; null if the thread is in use or active. */
  remainingMs(actor: Actor): number | null {
    const leaving = this.#leaving.get(actor);
    return leaving === undefined ? null : this.#remaining(leaving);
  }

  #remaining({ delayMs, idleSince }: Leaving): number | null {
    if (idleSince === undefined) return null;
    return Math.max(0, Math.ceil(idleSince + delayMs - this.#ports.clock.monotonic()));
  }

  /** Stops the unload delay, because a client uses the thread again, or the thread is unloaded. */
  forget(actor: Actor): void {
    const leaving = this.#leaving.get(actor);
    if (leaving === undefined) return;
    leaving.cancel?.();
    this.#leaving.delete(actor);
    this.#ports.presenceChanged(actor);
  }

  /** Called when the thread was unloaded. */
  gone(actor: Actor): void {
    this.forget(actor);
    for (const { recipient } of actor.subscriptions) {
      const followed = this.#followed.get(recipient);
      followed?.delete(actor);
      if (followed?.size === 0) this.#followed.delete(recipient);
    }
  }

  #unload(actor: Actor): void {
    this.forget(actor);
    this.#ports.unload(actor);
  }
}
