import type { McpServerElicitationRequestResponse } from "@bobbin/protocol";
import type { Ask, RequestAnswer } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import { type Invocation, refusal, type Step, type Tool } from "./tool.ts";

/** What the user said to a call. */
export type Approval = "accept" | "acceptForSession" | "decline" | "cancel";

/** How one kind of call is asked for. */
export interface ApprovalQuestion {
  readonly ask: Ask;
  /** What the user agrees to with `acceptForSession`: calls with the same key are not asked for again. */
  readonly key: string;
}

/** The name of the question whether a call may be made. */
const APPROVAL = "approval";

/**
 * A tool whose calls are asked for first. `question` says how, or undefined for a call that needs no asking. One
 * step of the loop for whatever tool needs it: it begins when the user has agreed.
 */
export function withApproval(
  tool: Tool,
  question: (invocation: Invocation) => ApprovalQuestion | undefined,
): Tool {
  return {
    ...tool,
    begin(invocation) {
      const asked = question(invocation);
      if (asked === undefined || isGranted(invocation.thread, asked.key)) return tool.begin(invocation);
      return { kind: "ask", ask: asked.ask, question: APPROVAL };
    },
    async heard(invocation, { name, method }, answer) {
      const asked = question(invocation);
      // One of the tool's own questions, after its call was approved. Journals of before have no names of questions.
      if (asked === undefined || (name ?? APPROVAL) !== APPROVAL || asked.ask.method !== method)
        return tool.heard!(invocation, { name, method }, answer);
      switch (approvalOf(method, answer)) {
        case "accept":
          return tool.begin(invocation);
        case "acceptForSession":
          return withGrant(await tool.begin(invocation), asked.key);
        case "decline":
          return refusal(
            "The user declined this call. Do not try it again in another way; ask what to do instead.",
          );
        case "cancel":
          return { kind: "interrupt" };
      }
    },
  };
}

function isGranted({ grants }: ThreadState, key: string): boolean {
  return grants.includes(key);
}

function withGrant(step: Step, grant: string): Step {
  return step.kind === "wait" || step.kind === "interrupt" ? step : { ...step, grant };
}

/** Whatever is not plainly a yes is a no. */
function approvalOf(method: Ask["method"], answer: RequestAnswer): Approval {
  if (answer.kind !== "result") return "decline";
  if (method === "mcpServer/elicitation/request") {
    const { action, _meta: meta } = answer.result as McpServerElicitationRequestResponse;
    const persist = (meta as { persist?: unknown } | null | undefined)?.persist;
    return action === "accept" && persist === "session" ? "acceptForSession" : action;
  }
  const { decision } = answer.result as { decision?: unknown };
  switch (decision) {
    case "accept":
    case "acceptForSession":
    case "cancel":
      return decision;
    default:
      return "decline";
  }
}
