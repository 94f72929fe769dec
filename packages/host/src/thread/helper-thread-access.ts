import type { CollabAgentState } from "@bobbin/protocol";
import { helperFacts, rootOf } from "../core/children/helper-identity.ts";
import { type OpenedHelper, PENDING, RUNNING } from "../core/children/helper-thread-state.ts";
import type { Command } from "../core/commands.ts";
import type { ThreadFacts } from "../core/life/records.ts";
import type { ThreadState } from "../core/state.ts";
import { Fault } from "../errors.ts";
import type { Clock } from "../platform/platform.ts";
import { readThread } from "./child-effect-performer.ts";
import { type HelperLoadPorts, loadHelper } from "./load-helper-thread.ts";
import { ANYONE } from "./stored-threads.ts";

export interface HelperThreadPorts extends HelperLoadPorts {
  readonly clock: Clock;
}

/** Access to the threads of helpers, for the tools that interrupt, close, open and count them. */
export class HelperThreadAccess {
  readonly #ports: HelperThreadPorts;

  constructor(ports: HelperThreadPorts) {
    this.#ports = ports;
  }

  /** Interrupts a helper's turn. */
  async interrupt(childId: string): Promise<void> {
    const command: Command = { kind: "interrupt", at: this.#ports.clock.now(), turnId: null };
    await this.#ports.registry.get(childId)?.submit(command);
  }

  /** Closes a helper's thread and its child threads. */
  async close(childId: string): Promise<void> {
    const { registry } = this.#ports;
    const actor = await registry.findLoaded(childId, ANYONE);
    if (actor !== undefined) await registry.unload(actor, "requested");
  }

  /** Loads the thread of a closed helper again. Undefined if the parent never had a helper with this ID. */
  async open(
    parent: ThreadState,
    childId: string,
  ): Promise<OpenedHelper | { readonly problem: string } | undefined> {
    const { registry } = this.#ports;
    const facts = await readThread(registry, childId, async (_journal, state) => state.facts);
    const helper = facts && helperFacts(facts);
    if (helper === undefined || facts?.parentThreadId !== parent.facts.id) return undefined;
    try {
      const actor = await loadHelper(this.#ports, parent, childId);
      const state = await actor.peek();
      return {
        nickname: helper.nickname ?? "",
        role: helper.role,
        state: stateOf(state),
        heard: actor.head,
      };
    } catch (cause) {
      if (!(cause instanceof Fault)) throw cause;
      return { problem: cause.message };
    }
  }

  /** Counts the open helpers of all other threads below the same root thread. */
  openElsewhere(facts: ThreadFacts): number {
    const root = rootOf(facts);
    let open = 0;
    for (const actor of this.#ports.registry.loaded())
      if (actor.rootId === root && actor.id !== facts.id) open += actor.helpers.length;
    return open;
  }
}

/** The state of a helper that is opened again. */
function stateOf({ turn, lastTurn }: ThreadState): CollabAgentState {
  if (turn !== null) return RUNNING;
  return lastTurn?.status === "interrupted" ? { status: "interrupted", message: null } : PENDING;
}
