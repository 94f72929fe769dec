import { next, questionExpiries } from "../core/next.ts";
import type { Commit } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { Presence } from "../core/unattended-thread.ts";
import type { Actor } from "../thread/actor.ts";
import type { CommittedThread, ThreadObserver } from "../thread/observers.ts";
import { Runner, type RunnerPorts } from "./runner.ts";

/** The runners of threads with running effects. Other threads have none. */
export class ActiveRunners implements ThreadObserver {
  readonly #ports: RunnerPorts;
  readonly #presenceOf: (actor: Actor) => Presence;
  readonly #byActor = new WeakMap<Actor, Runner>();

  constructor(ports: RunnerPorts, presenceOf: (actor: Actor) => Presence) {
    this.#ports = ports;
    this.#presenceOf = presenceOf;
  }

  committed(_commit: Commit, state: ThreadState, { actor }: CommittedThread): void {
    if (actor !== undefined) this.goOn(actor, state);
  }

  failed(actor: Actor): void {
    this.stop(actor);
  }

  unloaded(actor: Actor): void {
    this.stop(actor);
  }

  /** Starts the effects that the state names, and stops those that the state no longer names. */
  goOn(actor: Actor, state: ThreadState): void {
    // The last effects of an unloaded thread are performed by the code that unloads it (`performDue`), those of a
    // moved thread by its new host.
    if (state.status.type === "notLoaded" || actor.isMoved) return this.stop(actor);
    const wanted = next(state, this.#presenceOf(actor));
    const runner = this.#runnerFor(actor, wanted.length);
    if (runner === undefined) return;
    runner.reconcile(state, wanted);
    if (runner.idle) this.#byActor.delete(actor);
  }

  /** Called when clients have come or left. Does not wake a hibernating thread. */
  presenceChanged(actor: Actor): void {
    if (actor.gone) return;
    const wanted = questionExpiries(actor.requests, this.#presenceOf(actor));
    const runner = this.#runnerFor(actor, wanted.length);
    if (runner === undefined) return;
    runner.reconcileExpiries(wanted);
    if (runner.idle) this.#byActor.delete(actor);
  }

  /** The runner of a thread; undefined if no effect runs and none has to start. */
  #runnerFor(actor: Actor, wanted: number): Runner | undefined {
    const known = this.#byActor.get(actor);
    if (known !== undefined || wanted === 0) return known;
    const runner = new Runner(actor, this.#ports);
    this.#byActor.set(actor, runner);
    return runner;
  }

  /** Stops all effects of a thread. */
  stop(actor: Actor): void {
    this.#byActor.get(actor)?.stop();
    this.#byActor.delete(actor);
  }
}
