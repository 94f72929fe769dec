import type { ThreadItem } from "@bobbin/protocol";
import type { Ask } from "../core/requests/records.ts";
import { decisionOf } from "./consent/answer.ts";
import type { Intent } from "./consent/consent.ts";
import { decideConsent } from "./consent/decide.ts";
import { NO_RULES } from "./consent/rules.ts";
import { type Invocation, refusal, type Step, type Tool } from "./tool.ts";

/** How one kind of call is asked for. */
export interface ApprovalQuestion {
  readonly ask: Ask;
  /** What the user agrees to with `acceptForSession`: calls with the same key are not asked for again. */
  readonly key: string;
}

/** A call as clients see it. */
export interface ShownCall {
  /** While it is asked about. */
  started(invocation: Invocation): ThreadItem;
  /** When it is not made. */
  failed(invocation: Invocation, reason: string): ThreadItem;
}

/** The name of the question whether a call may be made. */
const APPROVAL = "approval";

/**
 * A tool whose calls need consent before they begin. `question` says how people are asked, or undefined for a call that
 * needs no asking; `shown` is how clients see the call, if they see one that is not made.
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
      const asked = question(invocation);
      const consent = consentTo(invocation, {
        kind: "tool",
        key: asked?.key ?? "",
        asks: asked !== undefined,
      });
      switch (consent.kind) {
        case "ask":
          return {
            kind: "ask",
            ask: asked!.ask,
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
      const asked = question(invocation);
      // One of the tool's own questions, after its call was approved. Journals of before have no names of questions.
      if (asked === undefined || (name ?? APPROVAL) !== APPROVAL || asked.ask.method !== method)
        return tool.heard!(invocation, { name, method }, answer);
      const decision = decisionOf(method, answer);
      switch (decision.kind) {
        case "accept":
        case "acceptWithRule":
        case "networkRule":
          return tool.begin(invocation);
        case "acceptForSession":
          return withGrant(await tool.begin(invocation), asked.key);
        case "decline":
          return refused(invocation, `The call was not made: ${decision.words}`);
        case "cancel":
          return { kind: "interrupt" };
      }
    },
  };
}

function consentTo({ thread }: Invocation, what: Intent) {
  const { approvalPolicy: policy, sandbox } = thread.settings;
  return decideConsent({
    what,
    policy,
    sandbox,
    roots: [],
    sandboxProblem: null,
    rules: NO_RULES,
    grants: thread.grants,
  });
}

function withGrant(step: Step, grant: string): Step {
  return step.kind === "wait" || step.kind === "interrupt" ? step : { ...step, grant };
}
