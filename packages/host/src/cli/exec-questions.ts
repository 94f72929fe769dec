import type { BobbinClient, Notification } from "@bobbin/client";
import type { McpServerElicitationRequestParams, ToolRequestUserInputParams } from "@bobbin/protocol";
import { RpcError } from "@bobbin/rpc";
import { NEEDS_APPROVAL } from "../tool/consent/decide.ts";

/** How a turn in the terminal answers questions: nobody is there to be asked. */
export interface AnswerPolicy {
  /** Whether tool calls that need approval get it. */
  readonly approve: boolean;
  /** Whether questions are answered with their first option, or left to the default of whoever asks. */
  readonly answer: "first" | "default";
}

/** What was decided in the user's place. */
export interface Decision {
  readonly kind: "approval" | "question" | "authorization";
  readonly question: string;
  /** Null if no answer was given. */
  readonly answer: string | null;
  /** What the user can do to have it decided otherwise; null if nothing. */
  readonly change: string | null;
}

type Decided = (decision: Decision) => void;

/** JSON-RPC's code for an error of the method's own. */
const UNANSWERED = -32000;

/** Answers every question of the host by the policy, and reports each answer. */
export function answerQuestions(client: BobbinClient, policy: AnswerPolicy, decided: Decided): void {
  const approval = (question: string): boolean => {
    decided(approvalDecision(question, policy.approve));
    return policy.approve;
  };
  client.onRequest("item/commandExecution/requestApproval", ({ command, reason }) => ({
    decision: approval(`Run ${command ?? reason ?? "a command"}?`) ? "accept" : "decline",
  }));
  client.onRequest("item/fileChange/requestApproval", ({ reason }) => ({
    decision: approval(reason ?? "Change files?") ? "accept" : "decline",
  }));
  client.onRequest("mcpServer/elicitation/request", (params) => elicitation(params, approval, decided));
  client.onRequest("item/tool/requestUserInput", (params) => {
    const answers = userInput(params, policy, decided);
    if (answers.length > 0) return { answers: Object.fromEntries(answers) };
    // A refusal lets the default of whoever asks apply.
    throw new RpcError(
      UNANSWERED,
      "nobody is there to answer; go on with the default, or with what seems best",
    );
  });
}

/** The decision in a notification of a call that was refused without asking, because nobody was to be asked. */
export function unasked({ method, params }: Notification): Decision | undefined {
  if (method !== "item/completed" || params.item.type !== "mcpToolCall") return undefined;
  const { server, tool, error } = params.item;
  if (error?.message !== NEEDS_APPROVAL) return undefined;
  return approvalDecision(`Allow ${server} to run the tool "${tool}"?`, false);
}

function approvalDecision(question: string, approved: boolean): Decision {
  return {
    kind: "approval",
    question,
    answer: approved ? "approved" : "declined",
    change: approved ? "Without --approve it is declined." : "With --approve it is approved.",
  };
}

function elicitation(
  params: McpServerElicitationRequestParams,
  approval: (question: string) => boolean,
  decided: Decided,
): { action: "accept" | "decline" } {
  if (params.mode === "url") {
    decided({
      kind: "authorization",
      question: params.message,
      answer: null,
      change: `To authorize it, open ${params.url}`,
    });
    return { action: "accept" };
  }
  const isApproval = "requestedSchema" in params && isEmptyForm(params.requestedSchema);
  if (isApproval) return { action: approval(params.message) ? "accept" : "decline" };
  const question = "message" in params ? params.message : params.title;
  decided({ kind: "question", question, answer: "declined", change: null });
  return { action: "decline" };
}

/** A form without fields asks for a yes or a no. */
function isEmptyForm(schema: unknown): boolean {
  const { properties } = (schema ?? {}) as { properties?: object };
  return properties !== undefined && Object.keys(properties).length === 0;
}

function userInput(
  { questions }: ToolRequestUserInputParams,
  { answer }: AnswerPolicy,
  decided: Decided,
): readonly (readonly [string, { answers: string[] }])[] {
  return questions.flatMap(({ id, question, options }) => {
    const first = options?.[0]?.label;
    const chosen = answer === "first" ? first : undefined;
    const change =
      chosen === undefined
        ? first === undefined
          ? null
          : `With --answer first it is ${JSON.stringify(first)}.`
        : "Without --answer first the default of whoever asks applies.";
    decided({ kind: "question", question, answer: chosen ?? null, change });
    return chosen === undefined ? [] : [[id, { answers: [chosen] }] as const];
  });
}
