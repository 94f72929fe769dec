import type { BobbinClient, Notification, ServerRequestContext } from "@bobbin/client";
import type {
  McpServerElicitationRequestParams,
  McpServerElicitationRequestResponse,
  ThreadItem,
  ToolRequestUserInputQuestion,
} from "@bobbin/protocol";
import { RpcError } from "@bobbin/rpc";
import { NEEDS_APPROVAL } from "../tool/consent/decide.ts";
import {
  type Approval,
  acceptanceOf,
  commandApproval,
  elicitationApproval,
  patchApproval,
  permissionsApproval,
} from "./exec-approval.ts";
import type { TerminalPerson } from "./exec-terminal.ts";

/** How a turn in the terminal answers questions. */
export interface AnswerPolicy {
  /** Approves whatever needs approval, without asking. */
  readonly approve: boolean;
  /** `first` picks the first option of each question, `default` lets the asking tool use its default; undefined: the user is asked. */
  readonly answer: "first" | "default" | undefined;
  /** Who is asked; undefined if nobody is there. Then approvals are declined. */
  readonly person: TerminalPerson | undefined;
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

/** JSON-RPC's code for an error of the method's own. */
const UNANSWERED = -32000;

/** The flag that makes most approvals of commands and patches unnecessary. */
const FULL_AUTO = " With --full-auto commands and patches need no approval within the folder.";

/** Asks the user on the terminal. Without a terminal, answers by the policy and reports each answer. */
export function answerQuestions(client: BobbinClient, policy: AnswerPolicy, report: QuestionReport): void {
  const shown = new Map<string, ThreadItem>();
  client.on("item/started", ({ item }) => {
    if (item.type === "fileChange") shown.set(item.id, item);
  });
  client.on("item/completed", ({ item }) => shown.delete(item.id));
  const decide = async <T>(
    approval: Approval<T>,
    subject: string,
    { signal }: ServerRequestContext,
    instead = "",
  ) => {
    const { approve, person } = policy;
    // What led to the question was sent before it, and is shown before it.
    await new Promise((resolve) => setImmediate(resolve));
    if (person !== undefined && !approve) {
      report.asking();
      const answer = await person.approve(approval, signal);
      if (answer !== undefined) return answer;
    } else report.decided(approvalDecision(subject, approve, instead));
    if (approve) return acceptanceOf(approval);
    // An error in place of a refusal: the model is told that nobody was there.
    throw new RpcError(UNANSWERED, "nobody is there to approve it");
  };
  client.onRequest("item/commandExecution/requestApproval", async (params, context) => {
    const approval = commandApproval(params);
    const { command, reason, networkApprovalContext: network } = params;
    const subject = network == null ? `Run ${command ?? reason ?? "a command"}?` : approval.question;
    return { decision: await decide(approval, subject, context, FULL_AUTO) };
  });
  client.onRequest("item/fileChange/requestApproval", async (params, context) => {
    const item = shown.get(params.itemId);
    const files = item?.type === "fileChange" ? item.changes.map(({ path }) => path).join(", ") : "files";
    return { decision: await decide(patchApproval(params, item), `Change ${files}?`, context, FULL_AUTO) };
  });
  client.onRequest("item/permissions/requestApproval", async (params, context) => {
    const approval = permissionsApproval(params);
    return decide(approval, `${approval.question.slice(0, -1)}: ${approval.details.join(", ")}?`, context);
  });
  client.onRequest("mcpServer/elicitation/request", async (params, context) => {
    const approval = elicitationApproval(params);
    if (approval !== undefined) return decide(approval, approval.question, context);
    return elicitation(params, (decision) => report.decided(decision));
  });
  client.onRequest("item/tool/requestUserInput", async (params, { signal }) => {
    const answers: (readonly [string, { answers: string[] }])[] = [];
    for (const question of params.questions) {
      const answer = await answerTo(question, policy, report, signal);
      if (answer !== undefined) answers.push([question.id, { answers: [answer] }]);
    }
    if (answers.length > 0) return { answers: Object.fromEntries(answers) };
    // After a refusal the asking tool uses its default.
    throw new RpcError(
      UNANSWERED,
      "nobody is there to answer; go on with the default, or with what seems best",
    );
  });
}

/** Who is told of questions. */
export interface QuestionReport {
  /** Somebody is about to be asked on the terminal. */
  asking(): void;
  decided(decision: Decision): void;
}

/** The decision in a notification of a call that was refused without asking, because nobody was to be asked. */
export function unasked({ method, params }: Notification): Decision | undefined {
  if (method !== "item/completed" || params.item.type !== "mcpToolCall") return undefined;
  const { server, tool, error } = params.item;
  if (error?.message !== NEEDS_APPROVAL) return undefined;
  return approvalDecision(`Allow ${server} to run the tool "${tool}"?`, false);
}

function approvalDecision(question: string, approved: boolean, instead = ""): Decision {
  return {
    kind: "approval",
    question,
    answer: approved ? "approved" : "declined",
    change: approved ? "Without --approve it is declined." : `With --approve it is approved.${instead}`,
  };
}

/** What is neither a yes nor a no: an address to open, or a form that nobody fills in. */
function elicitation(
  params: McpServerElicitationRequestParams,
  decided: QuestionReport["decided"],
): McpServerElicitationRequestResponse {
  if (params.mode === "url") {
    decided({
      kind: "authorization",
      question: params.message,
      answer: null,
      change: `To authorize it, open ${params.url}`,
    });
    return { action: "accept" };
  }
  const question = "message" in params ? params.message : params.title;
  decided({ kind: "question", question, answer: "declined", change: null });
  return { action: "decline" };
}

async function answerTo(
  { question, options: offered, isSecret }: ToolRequestUserInputQuestion,
  { answer, person }: AnswerPolicy,
  report: QuestionReport,
  signal: AbortSignal,
): Promise<string | undefined> {
  const options = offered ?? [];
  // A terminal would show a secret to whoever looks at it.
  if (answer === undefined && person !== undefined && !isSecret) {
    report.asking();
    return person.answer(question, options, signal);
  }
  const first = options[0]?.label;
  const chosen = answer === "first" ? first : undefined;
  const change =
    chosen === undefined
      ? first === undefined
        ? null
        : `With --answer first it is ${JSON.stringify(first)}.`
      : "Without --answer first it is not answered, and the default applies.";
  report.decided({ kind: "question", question, answer: chosen ?? null, change });
  return chosen;
}
