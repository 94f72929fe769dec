import type { Commit } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { Fault } from "../errors.ts";
import type { HookEvent } from "../hooks/hook-events.ts";
import { agentType, hookInput } from "../hooks/hook-input.ts";
import type { Actor } from "../thread/actor.ts";
import type { TurnHookPorts } from "./turn-hook-ports.ts";

export interface ObservingHookPorts extends TurnHookPorts {
  /** Undefined if the thread is not loaded. */
  actorOf(threadId: string): Actor | undefined;
}

/** At shutdown, hooks are started only within this time. */
const ENDING_MS = 3000;

const NEVER = new AbortController().signal;

/** Runs hooks that decide nothing: those of an interrupt, and those at the end of a session. */
export class ObservingHooks {
  readonly #ports: ObservingHookPorts;
  #endingSince: number | undefined;

  constructor(ports: ObservingHookPorts) {
    this.#ports = ports;
  }

  /** Starts the hooks of an interrupt, without waiting for them. */
  committed({ records }: Commit, state: ThreadState): void {
    if (state.status.type === "notLoaded") return;
    for (const record of records) {
      if (record.type !== "turnEnded" || record.status !== "interrupted") continue;
      const actor = this.#ports.actorOf(state.facts.id);
      if (actor === undefined) continue;
      const { turnId } = record;
      const run = this.#run(actor, state, "interrupt", { turnId, names: [], more: { turn_id: turnId } });
      this.#ports.supervisor.take("hooks of an interrupt", run);
    }
  }

  /**
   * Runs the `sessionEnd` hooks before a thread is unloaded; undefined if there are none. Takes a few seconds at
   * most. At shutdown there may be many threads, so only those unloaded in the first seconds run hooks.
   */
  leaving(actor: Actor, ending: boolean): Promise<void> | undefined {
    const { hooks, platform } = this.#ports;
    if (!hooks.mayHave()) return undefined;
    if (ending) {
      const now = platform.clock.now();
      this.#endingSince ??= now;
      if (now - this.#endingSince >= ENDING_MS) return undefined;
    }
    return this.#leave(actor);
  }

  async #leave(actor: Actor): Promise<void> {
    try {
      const state = await actor.peek();
      // Child threads have no `sessionEnd` hooks: helpers have others, and a child that handles an event belongs to the
      // session of its parent.
      if (state.facts.parentThreadId !== null || agentType(state) !== undefined) return;
      await this.#run(actor, state, "sessionEnd", {
        turnId: null,
        names: ["other"],
        more: { reason: "other" },
      });
    } catch (cause) {
      if (!(cause instanceof Fault)) throw cause;
    }
  }

  async #run(
    actor: Actor,
    state: ThreadState,
    event: HookEvent,
    about: { readonly turnId: string | null; readonly names: readonly string[]; readonly more: object },
  ): Promise<void> {
    const { hooks } = this.#ports;
    const { turnId, names } = about;
    const matching = (await hooks.of(state)).matching(event, names);
    if (matching.length === 0) return;
    const question = { event, names, input: hookInput(event, state, about.more), suffix: null };
    const threadId = actor.id;
    for (const run of hooks.started(matching, question))
      actor.tell("hook/started", { threadId, turnId, run });
    const { runs } = await hooks.run(state, matching, question, NEVER);
    for (const run of runs) actor.tell("hook/completed", { threadId, turnId, run });
  }
}
