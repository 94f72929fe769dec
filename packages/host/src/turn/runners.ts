import { next } from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import type { Actor } from "../thread/actor.ts";
import { Runner, type RunnerPorts } from "./runner.ts";

/** The runners of those threads that have something under way; all others need none. */
export class Runners {
  readonly #ports: RunnerPorts;
  readonly #byActor = new WeakMap<Actor, Runner>();

  constructor(ports: RunnerPorts) {
    this.#ports = ports;
  }

  /** Called after each change of a thread's state. */
  reconcile(actor: Actor, state: ThreadState): void {
    const wanted = next(state);
    const known = this.#byActor.get(actor);
    if (known === undefined && wanted.length === 0) return;
    const runner = known ?? new Runner(actor, this.#ports);
    this.#byActor.set(actor, runner);
    runner.reconcile(state, wanted);
    if (runner.idle) this.#byActor.delete(actor);
  }
}
