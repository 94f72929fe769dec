import type { Cancel, Clock, Timers } from "../platform/platform.ts";
import type { Actor } from "./actor.ts";
import type { Cursor, Recipient } from "./subscription.ts";

export interface IdlePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** How long a question waits that nobody is there to answer. */
  readonly requestDeadlineMs: number;
  unload(actor: Actor): void;
  /** A question has waited long enough. */
  expire(actor: Actor, requestId: number): void;
  /** A subscriber has left, and others are still there. */
  left(actor: Actor): void;
}

/** How long clients have to come back after a restart before what they were asked is given up. */
const COMEBACK_MS = 60_000;

/** A thread that nobody retains goes after the delay of the last one to leave, unless something is under way. */
interface Leaving {
  readonly delayMs: number;
  /** Since when nobody retains it, on the clock that only grows. */
  readonly since: number;
  /** Since when nothing is under way, on the same clock; undefined while something is. */
  idleSince: number | undefined;
  /** Since when each question waits with nobody there to answer it, on the same clock. */
  readonly unanswered: Map<number, number>;
  /** Calls off what is waited for. */
  cancel: Cancel | undefined;
}

/** Who retains which thread, and when a thread that nobody retains is unloaded. */
export class Idle {
  readonly #ports: IdlePorts;
  readonly #followed = new Map<Recipient, Set<Actor>>();
  readonly #leaving = new Map<Actor, Leaving>();
  /** Those that are gone, and their delays: what they asked for may be served after they went. */
  readonly #gone = new WeakMap<Recipient, number>();

  constructor(ports: IdlePorts) {
    this.#ports = ports;
  }

  follow(actor: Actor, recipient: Recipient, after?: Cursor): void {
    actor.subscriptions.add(recipient, after);
    const followed = this.#followed.get(recipient) ?? new Set();
    this.#followed.set(recipient, followed.add(actor));
    this.forget(actor);
    const delayMs = this.#gone.get(recipient);
    if (delayMs !== undefined) this.leave(actor, recipient, delayMs);
  }

  /** Sees what happens in it, and does not keep it loaded. */
  observe(actor: Actor, recipient: Recipient): void {
    if (this.#gone.has(recipient) || actor.subscriptions.has(recipient)) return;
    actor.subscriptions.observe(recipient);
    const followed = this.#followed.get(recipient) ?? new Set();
    this.#followed.set(recipient, followed.add(actor));
  }

  /** It is loaded for its own work, and goes when that is done. */
  forNobody(actor: Actor): void {
    this.#abandoned(actor, 0);
  }

  /** False if it did not follow. */
  leave(actor: Actor, recipient: Recipient, delayMs: number): boolean {
    if (!actor.subscriptions.remove(recipient)) return false;
    const followed = this.#followed.get(recipient);
    followed?.delete(actor);
    if (followed?.size === 0) this.#followed.delete(recipient);
    if (actor.subscriptions.size > 0) this.#ports.left(actor);
    // Those who only observed never kept it.
    if (actor.subscriptions.retaining > 0 || this.#leaving.has(actor)) return true;
    this.#abandoned(actor, delayMs);
    return true;
  }

  /** It outlived its host, and nobody has asked for it yet: what it asks has waited since before. */
  adopted(actor: Actor, delayMs: number): void {
    this.#abandoned(actor, delayMs, Math.max(0, this.#ports.requestDeadlineMs - COMEBACK_MS));
  }

  /** It was loaded for someone who does not follow it after all. */
  refused(actor: Actor, delayMs: number): void {
    if (actor.subscriptions.retaining > 0 || this.#leaving.has(actor)) return;
    this.#abandoned(actor, delayMs);
  }

  /** `agoMs`: how long nobody has retained it already. */
  #abandoned(actor: Actor, delayMs: number, agoMs = 0): void {
    const since = this.#ports.clock.monotonic() - agoMs;
    this.#leaving.set(actor, {
      delayMs,
      since,
      idleSince: undefined,
      unanswered: new Map(),
      cancel: undefined,
    });
    this.consider(actor);
  }

  /** The recipient is gone. */
  left(recipient: Recipient, delayMs: number): void {
    this.#gone.set(recipient, delayMs);
    for (const actor of [...(this.#followed.get(recipient) ?? [])]) this.leave(actor, recipient, delayMs);
  }

  /** Called when something has changed that may matter. Only what is under way holds the delay up: a new name does not. */
  consider(actor: Actor): void {
    const leaving = this.#leaving.get(actor);
    if (leaving === undefined) return;
    // One whose journal takes nothing more will never come to an end of what it did. What it waits for may still come.
    const running = !actor.broken && (actor.activeTurn !== undefined || actor.busy);
    const active = running || actor.waits || actor.live;
    if (active || leaving.idleSince === undefined) {
      leaving.cancel?.();
      leaving.cancel = undefined;
      leaving.idleSince = active ? undefined : this.#ports.clock.monotonic();
    }
    // A resume that is under way would be answered, and the thread gone a moment later.
    if (actor.visited) return;
    if (active || actor.requests.length > 0) return this.#awaitAnswer(actor, leaving);
    const remaining = this.#remaining(leaving)!;
    if (remaining === 0) return this.#unload(actor);
    this.#arm(leaving, remaining, () => this.consider(actor));
  }

  /** How long the thread still stays, if it is leaving. */
  remainingMs(actor: Actor): number | null {
    const leaving = this.#leaving.get(actor);
    return leaving === undefined ? null : this.#remaining(leaving);
  }

  #remaining({ delayMs, idleSince }: Leaving): number | null {
    if (idleSince === undefined) return null;
    return Math.max(0, Math.ceil(idleSince + delayMs - this.#ports.clock.monotonic()));
  }

  /** Someone retains it again, or it is gone. */
  forget(actor: Actor): void {
    this.#leaving.get(actor)?.cancel?.();
    this.#leaving.delete(actor);
  }

  /** The thread is not loaded any more: nobody follows it. */
  gone(actor: Actor): void {
    this.forget(actor);
    for (const { recipient } of actor.subscriptions) {
      const followed = this.#followed.get(recipient);
      followed?.delete(actor);
      if (followed?.size === 0) this.#followed.delete(recipient);
    }
  }

  /** No client is there that could answer: the question that waited longest goes first. */
  #awaitAnswer(actor: Actor, leaving: Leaving): void {
    const oldest = actor.requests[0];
    if (oldest === undefined) return;
    const { clock, requestDeadlineMs } = this.#ports;
    const now = clock.monotonic();
    const { unanswered, since } = leaving;
    for (const { id, at } of actor.requests) {
      if (unanswered.has(id)) continue;
      // The machine's clock is asked once: it may be set while the question waits.
      unanswered.set(id, now - Math.min(Math.max(0, clock.now() - at), now - since));
    }
    const left = Math.max(0, unanswered.get(oldest.id)! + requestDeadlineMs - now);
    this.#arm(leaving, left, () => this.#ports.expire(actor, oldest.id));
  }

  /** There is one thing to wait for at a time: the end of a question, or that of the delay. */
  #arm(leaving: Leaving, ms: number, run: () => void): void {
    leaving.cancel?.();
    leaving.cancel = this.#ports.timers.after(ms, () => {
      leaving.cancel = undefined;
      run();
    });
  }

  #unload(actor: Actor): void {
    this.forget(actor);
    this.#ports.unload(actor);
  }
}
