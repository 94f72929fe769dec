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

/** The name of the question whether a call may be made. */
const APPROVAL = "approval";

/**
 * A tool whose calls need consent before they begin. `question` says how people are asked, or undefined for a call that
 * needs no asking; `refused` is the step for a call that may not be asked about.
 */
export function withApproval(
  tool: Tool,
  question: (invocation: Invocation) => ApprovalQuestion | undefined,
  refused: (invocation: Invocation, reason: string) => Step = (_, reason) => refusal(reason),
): Tool {
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
          return { kind: "ask", ask: asked!.ask, question: APPROVAL };
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
          return refusal(`The call was not made: ${decision.words}`);
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
