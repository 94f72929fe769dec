import type { ThreadState } from "../../core/state.ts";
import { NO_RULES } from "./command-and-network-rules.ts";
import type { Consent, Intent } from "./consent.ts";
import { decideConsent } from "./decide-consent.ts";

/**
 * Decides about actions that involve neither files nor rules: calls of external tools, and elicitations of servers.
 */
export function externalToolConsent({ settings, grants, turn }: ThreadState, what: Intent): Consent {
  const { approvalPolicy: policy, sandbox } = settings;
  return decideConsent({
    what,
    policy,
    sandbox,
    roots: [],
    sandboxProblem: null,
    rules: NO_RULES,
    grants,
    strict: turn?.strictReview ?? false,
  });
}
