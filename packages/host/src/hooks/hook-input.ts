import { helperFacts, rootOf } from "../core/children/helper-identity.ts";
import type { ThreadState } from "../core/state.ts";
import type { HookEvent } from "./hook-events.ts";
import { EVENTS } from "./hook-events.ts";

/** The agent type of a helper without a role. */
const USUAL_ROLE = "default";

/**
 * Returns the role of a helper, which hooks and matchers call the agent type; undefined if the thread is not a
 * helper.
 */
export function agentType({ facts }: ThreadState): string | undefined {
  const helper = helperFacts(facts);
  return helper === undefined ? undefined : (helper.role ?? USUAL_ROLE);
}

/** Builds the JSON that a hook reads from stdin: common fields, and those of its event. */
export function hookInput(event: HookEvent, thread: ThreadState, more: object): object {
  const { facts, settings, turn } = thread;
  const agent = agentType(thread);
  return {
    session_id: rootOf(facts),
    ...(turn !== null && EVENTS[event].scope === "turn" && { turn_id: turn.id }),
    ...(agent !== undefined && { agent_id: facts.id, agent_type: agent }),
    // Hooks cannot read journals, which are in the home.
    transcript_path: null,
    cwd: settings.cwd,
    hook_event_name: EVENTS[event].name,
    ...(event !== "sessionEnd" && {
      model: settings.model,
      permission_mode: settings.approvalPolicy === "never" ? "bypassPermissions" : "default",
    }),
    ...more,
  };
}
