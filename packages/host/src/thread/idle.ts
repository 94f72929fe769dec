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
  /** Since when nobody retains it. */
  readonly since: number;
  dueAt: number | undefined;
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

  /** False if it did not follow. */
  leave(actor: Actor, recipient: Recipient, delayMs: number): boolean {
    if (!actor.subscriptions.remove(recipient)) return false;
    const followed = this.#followed.get(recipient);
    followed?.delete(actor);
    if (followed?.size === 0) this.#followed.delete(recipient);
    if (actor.subscriptions.size > 0) {
      this.#ports.left(actor);
      return true;
    }
    this.#abandoned(actor, delayMs, this.#ports.clock.now());
    return true;
  }

  /** It outlived its host, and nobody has asked for it yet: what it asks has waited since before. */
  adopted(actor: Actor, delayMs: number): void {
    const { clock, requestDeadlineMs } = this.#ports;
    this.#abandoned(actor, delayMs, clock.now() - Math.max(0, requestDeadlineMs - COMEBACK_MS));
  }

  /** It was loaded for someone who does not follow it after all. */
  refused(actor: Actor, delayMs: number): void {
    if (actor.subscriptions.size > 0 || this.#leaving.has(actor)) return;
    this.#abandoned(actor, delayMs, this.#ports.clock.now());
  }

  #abandoned(actor: Actor, delayMs: number, since: number): void {
    this.#leaving.set(actor, { delayMs, since, dueAt: undefined, cancel: undefined });
    this.consider(actor);
  }

  /** The recipient is gone. */
  left(recipient: Recipient, delayMs: number): void {
    this.#gone.set(recipient, delayMs);
    for (const actor of [...(this.#followed.get(recipient) ?? [])]) this.leave(actor, recipient, delayMs);
  }

  /** Called when something has changed that may matter. */
  consider(actor: Actor): void {
    const leaving = this.#leaving.get(actor);
    if (leaving === undefined) return;
    leaving.cancel?.();
    leaving.cancel = undefined;
    leaving.dueAt = undefined;
    // A resume that is under way would be answered, and the thread gone a moment later.
    if (actor.visited) return;
    if (actor.activeTurn !== undefined) return this.#awaitAnswer(actor, leaving);
    if (actor.busy) return;
    if (leaving.delayMs === 0) return this.#unload(actor);
    leaving.dueAt = this.#ports.clock.now() + leaving.delayMs;
    leaving.cancel = this.#ports.timers.after(leaving.delayMs, () => {
      if (!actor.visited) this.#unload(actor);
    });
  }

  /** How long the thread still stays, if it is leaving. */
  remainingMs(actor: Actor): number | null {
    const dueAt = this.#leaving.get(actor)?.dueAt;
    return dueAt === undefined ? null : Math.max(0, dueAt - this.#ports.clock.now());
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
    const { clock, timers, requestDeadlineMs } = this.#ports;
    const due = Math.max(oldest.at, leaving.since) + requestDeadlineMs;
    leaving.cancel = timers.after(Math.max(0, due - clock.now()), () => {
      leaving.cancel = undefined;
      this.#ports.expire(actor, oldest.id);
    });
  }

  #unload(actor: Actor): void {
    this.forget(actor);
    this.#ports.unload(actor);
  }
}
