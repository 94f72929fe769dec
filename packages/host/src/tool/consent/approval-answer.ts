import type { McpServerElicitationRequestResponse } from "@bobbin/protocol";
import type { Ask, RequestAnswer } from "../../core/requests/records.ts";

/** A user's decision on an approval question. */
export type Decision =
  | { readonly kind: "accept" }
  /** The approval also counts for the same action later in this session. */
  | { readonly kind: "acceptForSession" }
  /** Saves a rule that allows commands that begin with these words. */
  | { readonly kind: "acceptWithRule"; readonly prefix: readonly string[] }
  /** Saves a rule that allows or forbids connections to this network host. */
  | { readonly kind: "networkRule"; readonly host: string; readonly action: "allow" | "deny" }
  /** `words`: the reason for the model, which completes a sentence. */
  | { readonly kind: "decline"; readonly words: string }
  /** Ends the turn. */
  | { readonly kind: "cancel" };

const DECLINED = "the user declined it. Do not try it again in another way; ask what to do instead.";
const CANCELLED = "the user cancelled it. Ask what to do instead.";
const EXPIRED = "nobody was there to allow it. Go on without it, and say what is left to do.";
const FAILED = "no client could ask the user about it. Go on without it, and say what is left to do.";

/** Parses the answer to an approval question. Any answer that is not clearly a yes is a no. */
export function decisionOf(method: Ask["method"], answer: RequestAnswer): Decision {
  switch (answer.kind) {
    case "expired":
      return { kind: "decline", words: EXPIRED };
    case "failed":
      return { kind: "decline", words: FAILED };
    case "denied":
      return { kind: "decline", words: answer.words };
    case "cleared":
      return { kind: "decline", words: DECLINED };
    case "result":
      return method === "mcpServer/elicitation/request"
        ? elicited(answer.result as McpServerElicitationRequestResponse)
        : decided((answer.result as { decision?: unknown } | null)?.decision);
  }
}

/** A cancelled elicitation ends the call, not the turn. */
function elicited({ action, _meta: meta }: McpServerElicitationRequestResponse): Decision {
  switch (action) {
    case "accept": {
      const persist = (meta as { persist?: unknown } | null | undefined)?.persist;
      return { kind: persist === "session" ? "acceptForSession" : "accept" };
    }
    case "decline":
      return { kind: "decline", words: DECLINED };
    case "cancel":
      return { kind: "decline", words: CANCELLED };
  }
}

function decided(decision: unknown): Decision {
  if (decision === "accept" || decision === "acceptForSession" || decision === "cancel")
    return { kind: decision };
  if (typeof decision === "object" && decision !== null) {
    const { acceptWithExecpolicyAmendment: rule, applyNetworkPolicyAmendment: network } = decision as {
      acceptWithExecpolicyAmendment?: { execpolicy_amendment?: unknown };
      applyNetworkPolicyAmendment?: { network_policy_amendment?: { host?: unknown; action?: unknown } };
    };
    const prefix = rule?.execpolicy_amendment;
    if (isWords(prefix)) return { kind: "acceptWithRule", prefix };
    const { host, action } = network?.network_policy_amendment ?? {};
    if (typeof host === "string" && (action === "allow" || action === "deny"))
      return { kind: "networkRule", host, action };
  }
  return { kind: "decline", words: DECLINED };
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string");
}
