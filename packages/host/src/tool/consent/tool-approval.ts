import type { ThreadItem } from "@bobbin/protocol";
import type { Ask } from "../../core/requests/records.ts";
import { type Invocation, refusal, type Step, type Tool } from "../tool.ts";
import { decisionOf } from "./approval-answer.ts";
import { externalToolConsent } from "./external-tool-consent.ts";

/** The question that asks the user to approve a call. */
export interface ApprovalQuestion {
  readonly ask: Ask;
  /** The grant key. After `acceptForSession`, calls with the same key need no approval. */
  readonly key: string;
}

/** Builds the items that clients see for a call that needs approval. */
export interface ShownCall {
  /** While the user is asked. */
  started(invocation: Invocation): ThreadItem;
  /** When the call is refused. */
  failed(invocation: Invocation, reason: string): ThreadItem;
}

/** The name of the approval question. */
const APPROVAL = "approval";

/**
 * Wraps a tool so that its calls need the user's approval. `question` returns undefined for a call that needs none.
 * `shown` builds the item of a call that waits for approval or was refused.
 */
export function withApproval(
  tool: Tool,
  question: (invocation: Invocation) => ApprovalQuestion | undefined,
  shown?: ShownCall,
): Tool {
  const refused = (invocation: Invocation, reason: string): Step =>
    shown === undefined
      ? refusal(reason)
      : { kind: "settle", output: reason, success: false, item: shown.failed(invocation, reason) };
  return {
    ...tool,
    begin(invocation) {
      const approval = question(invocation);
      const consent = externalToolConsent(invocation.thread, {
        kind: "tool",
        key: approval?.key ?? "",
        asks: approval !== undefined,
      });
      switch (consent.kind) {
        case "ask":
          return {
            kind: "ask",
            ask: approval!.ask,
            question: APPROVAL,
            ...(shown && { item: shown.started(invocation) }),
          };
        case "refuse":
          return refused(invocation, consent.reason);
        default:
          return tool.begin(invocation);
      }
    },
    async heard(invocation, { name, method }, answer) {
      const approval = question(invocation);
      // The answer belongs to one of the tool's own questions. Journals of older versions have questions without
      // names.
      if (approval === undefined || (name ?? APPROVAL) !== APPROVAL || approval.ask.method !== method)
        return tool.heard!(invocation, { name, method }, answer);
      const decision = decisionOf(method, answer);
      switch (decision.kind) {
        case "accept":
          return tool.begin(invocation);
        case "acceptForSession":
          return withGrant(await tool.begin(invocation), approval.key);
        case "acceptWithRule":
        case "networkRule":
          return refused(invocation, "The call was not made: the answer does not fit the question.");
        case "decline":
          return refused(invocation, `The call was not made: ${decision.words}`);
        case "cancel":
          return { kind: "interrupt" };
      }
    },
  };
}

function withGrant(step: Step, grant: string): Step {
  return step.kind === "wait" || step.kind === "interrupt" ? step : { ...step, grant };
}
