import type { NetworkApprovalProtocol } from "@bobbin/protocol";
import { startAsideReview } from "../approval-reviews/start-review.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { runningCalls } from "../turn/phase.ts";
import type { NetworkCommand } from "./commands.ts";
import type { Aside, Ask, PendingRequest, RequestAnswer } from "./records.ts";

export type NetworkAside = Extract<Aside, { kind: "network" }>;

/** Limit on the open questions about network hosts, per thread. */
const MAX_QUESTIONS = 8;

/** Decides commands about the network access of programs. Commands that come too late have no effect. */
export function decideNetwork(state: ThreadState, command: NetworkCommand): readonly ThreadRecord[] {
  switch (command.kind) {
    case "askNetwork":
      return askNetwork(state, command);
    case "networkRuleSaved": {
      const { at, requestId } = command;
      const isDue = state.networkRules.some((rule) => rule.requestId === requestId);
      return isDue ? [{ type: "networkRuleSaved", at, requestId }] : [];
    }
  }
}

/**
 * A running command wants to connect to a network host. If a question about that host is open already, no second one
 * is asked. Without a running turn no question is asked, because every request belongs to a turn.
 */
function askNetwork(
  state: ThreadState,
  command: Extract<NetworkCommand, { kind: "askNetwork" }>,
): readonly ThreadRecord[] {
  const { turn, requests, facts } = state;
  const { at, requestId, itemId, host, port, protocol, grant, forGood, reason } = command;
  if (turn === null || !isRunning(state, itemId)) return [];
  const open = requests.filter(({ aside }) => aside?.kind === "network");
  const target = `${protocol}://${host}:${port}`;
  const { asideReviews = [] } = state;
  if (open.length + asideReviews.length >= MAX_QUESTIONS) return [];
  if (open.some((request) => isAbout(request, command))) return [];
  if (asideReviews.some(({ action }) => action.type === "networkAccess" && action.target === target))
    return [];
  const amendments = forGood ? (["allow", "deny"] as const).map((action) => ({ host, action })) : [];
  const ask: Ask = {
    method: "item/commandExecution/requestApproval",
    params: {
      kind: "command",
      threadId: facts.id,
      turnId: turn.id,
      itemId,
      startedAtMs: at,
      approvalId: `network#${protocol}#${host}#${port}`,
      environmentId: "local",
      reason,
      networkApprovalContext: { host, protocol },
      ...(forGood && { proposedNetworkPolicyAmendments: amendments }),
      availableDecisions: [
        "accept",
        "acceptForSession",
        ...amendments.map((amendment) => ({
          applyNetworkPolicyAmendment: { network_policy_amendment: amendment },
        })),
        "decline",
        "cancel",
      ],
    },
  };
  const action = { type: "networkAccess", target, host, protocol, port } as const;
  const by = { at, turnId: turn.id, callId: itemId, reviewId: command.reviewId, requestId };
  const review = startAsideReview(state, ask, action, by);
  if (review !== undefined) return review;
  const aside: NetworkAside = { kind: "network", host, port, protocol, grant, forGood };
  return [
    { type: "requestSent", request: { ...ask, id: requestId, at, turnId: turn.id, callId: itemId, aside } },
  ];
}

function isRunning(state: ThreadState, itemId: string): boolean {
  if (state.terminals.some(({ item }) => item.id === itemId)) return true;
  return findCall(runningCalls(state), itemId)?.stage.kind === "dispatched";
}

/** The target of a connection. */
interface NetworkTarget {
  readonly host: string;
  readonly port: number;
  readonly protocol: NetworkApprovalProtocol;
}

/** Whether a request is about connections to a target. */
export function isAbout({ aside }: Pick<PendingRequest, "aside">, target: NetworkTarget): boolean {
  if (aside?.kind !== "network") return false;
  return aside.host === target.host && aside.port === target.port && aside.protocol === target.protocol;
}

export type NetworkDecision = "once" | "session" | "allowForGood" | "denyForGood" | "decline" | "cancel";

/** The decision in a client's answer about a network host. Any answer that is not clearly a yes is `decline`. */
export function networkDecision(
  { host, forGood }: Pick<NetworkAside, "host" | "forGood">,
  answer: RequestAnswer,
): NetworkDecision {
  if (answer.kind !== "result") return "decline";
  const { decision } = (answer.result ?? {}) as { readonly decision?: unknown };
  if (decision === "accept") return "once";
  if (decision === "acceptForSession") return "session";
  if (decision === "cancel") return "cancel";
  const { applyNetworkPolicyAmendment: applied } = (Object(decision) ?? {}) as {
    applyNetworkPolicyAmendment?: { network_policy_amendment?: { host?: unknown; action?: unknown } };
  };
  const { host: about, action } = applied?.network_policy_amendment ?? {};
  // The client's answer may name any network host. Only the one of the question counts.
  if (about !== host || !forGood) return "decline";
  return action === "allow" ? "allowForGood" : action === "deny" ? "denyForGood" : "decline";
}

/** The records that follow from the answer about a network host: a grant for the session, or a rule. */
export function networkAnswered(
  { id: requestId, turnId }: PendingRequest,
  aside: NetworkAside,
  at: number,
  answer: RequestAnswer,
): readonly ThreadRecord[] {
  const decision = networkDecision(aside, answer);
  const { host, protocol, grant } = aside;
  switch (decision) {
    case "session":
      return [{ type: "approvalGranted", turnId, key: grant, grantedAt: at }];
    case "allowForGood":
    case "denyForGood": {
      const rule = {
        requestId,
        host,
        protocol,
        decision: decision === "allowForGood" ? "allow" : "deny",
      } as const;
      return [{ type: "networkRuleDecided", at, rule }];
    }
    default:
      return [];
  }
}
