import type {
  Answers,
  BobbinClient,
  Notification,
  QuestionContext,
  ServerRequestContext,
} from "@bobbin/client";
import type {
  McpServerElicitationRequestParams,
  McpServerElicitationRequestResponse,
  ThreadItem,
  ToolRequestUserInputQuestion,
} from "@bobbin/protocol";
import { RpcError } from "@bobbin/rpc";
import { NEEDS_APPROVAL, UNCONFINED } from "../tool/consent/consent.ts";
import {
  type Approval,
  acceptanceOf,
  commandApproval,
  elicitationApproval,
  patchApproval,
  permissionsApproval,
} from "./exec-approval-choices.ts";
import type { TerminalUser } from "./terminal-questions.ts";

/** How `bobbin exec` answers the host's questions during a turn. */
export interface AnswerPolicy {
  /** Whether to approve everything without asking. */
  readonly approve: boolean;
  /** `first` picks the first option. `default` lets the asking tool use its default. Undefined: the user is asked. */
  readonly answer: "first" | "default" | undefined;
  /** The user at the terminal; undefined if there is no terminal. Then approvals are declined. */
  readonly person: TerminalUser | undefined;
}

/** An answer that was given without asking the user. */
export interface Decision {
  readonly kind: "approval" | "question" | "authorization";
  readonly question: string;
  /** Null if the question was not answered. */
  readonly answer: string | null;
  /** What the user can do for another answer; null if nothing. */
  readonly change: string | null;
}

/** Advice where no flag but `--approve` makes commands run. */
const NO_SANDBOX = " Without a sandbox --full-auto refuses commands; bobbin doctor says how to install one.";

/** The error code for a question that nobody answered; from JSON-RPC's range for application errors. */
const UNANSWERED = -32000;

/** Advice about the flag that makes most approvals of commands and patches unnecessary. */
const FULL_AUTO =
  " With --full-auto commands and patches need no approval within the folder, unless they remove files by force.";

/** The key of an item. It contains the thread's ID, because items of different helper threads may have equal IDs. */
function shownKey(threadId: string, itemId: string): string {
  return `${threadId} ${itemId}`;
}

/** The file changes that have started and not completed. A question about a change shows its files and diff. */
export class StartedChanges {
  readonly #items = new Map<string, ThreadItem>();

  /** Must be called with every notification of the connection. */
  onNotification({ method, params }: Notification): void {
    if (method === "item/started" && params.item.type === "fileChange")
      this.#items.set(shownKey(params.threadId, params.item.id), params.item);
    if (method === "item/completed") this.#items.delete(shownKey(params.threadId, params.item.id));
  }

  get(threadId: string, itemId: string): ThreadItem | undefined {
    return this.#items.get(shownKey(threadId, itemId));
  }
}

type QuestionAnswers = Required<
  Pick<Answers, "command" | "fileChange" | "permissions" | "question" | "elicitation">
>;

/** Callbacks that ask the user on the terminal. Without a terminal, they answer by the policy and report each answer. */
export function questionAnswers(
  policy: AnswerPolicy,
  report: QuestionReport,
  changes: StartedChanges,
): QuestionAnswers {
  const decide = async <T>(
    approval: Approval<T>,
    subject: string,
    { signal }: QuestionContext,
    instead = "",
  ) => {
    const { approve, person } = policy;
    // Notifications that arrived before the question are shown first.
    await new Promise((resolve) => setImmediate(resolve));
    if (person !== undefined && !approve) {
      report.asking();
      const answer = await person.approve(approval, signal);
      if (answer !== undefined) return answer;
    } else report.decided(approvalDecision(subject, approve, instead));
    if (approve) return acceptanceOf(approval);
    // An error instead of a refusal, so that the model learns that no user was asked.
    throw new RpcError(UNANSWERED, "nobody is there to approve it");
  };
  return {
    command(params, context) {
      const approval = commandApproval(params);
      const { command, reason, networkApprovalContext: network } = params;
      const subject = network == null ? `Run ${command ?? reason ?? "a command"}?` : approval.question;
      return decide(approval, subject, context, reason?.includes(UNCONFINED) ? NO_SANDBOX : FULL_AUTO);
    },
    fileChange(params, context) {
      const item = changes.get(params.threadId, params.itemId);
      const files = item?.type === "fileChange" ? item.changes.map(({ path }) => path).join(", ") : "files";
      return decide(patchApproval(params, item), `Change ${files}?`, context, FULL_AUTO);
    },
    permissions(params, context) {
      const approval = permissionsApproval(params);
      return decide(approval, `${approval.question.slice(0, -1)}: ${approval.details.join(", ")}?`, context);
    },
    elicitation(params, context) {
      const approval = elicitationApproval(params);
      if (approval !== undefined) return decide(approval, approval.question, context);
      return elicitation(params, (decision) => report.decided(decision));
    },
    async question(params, { signal }) {
      const answers: (readonly [string, readonly string[]])[] = [];
      for (const question of params.questions) {
        const answer = await answerTo(question, policy, report, signal);
        if (answer !== undefined) answers.push([question.id, [answer]]);
      }
      if (answers.length > 0) return Object.fromEntries(answers);
      // After an error the asking tool uses its default.
      throw new RpcError(
        UNANSWERED,
        "nobody is there to answer; go on with the default, or with what seems best",
      );
    },
  };
}

/** Answers the server requests of one connection. */
export function answerQuestions(client: BobbinClient, policy: AnswerPolicy, report: QuestionReport): void {
  const changes = new StartedChanges();
  client.onNotification((notification) => changes.onNotification(notification));
  const answers = questionAnswers(policy, report, changes);
  const about = ({ signal, id }: ServerRequestContext): QuestionContext => ({ signal, requestId: id });
  client.onRequest("item/commandExecution/requestApproval", async (params, context) => ({
    decision: await answers.command(params, about(context)),
  }));
  client.onRequest("item/fileChange/requestApproval", async (params, context) => ({
    decision: await answers.fileChange(params, about(context)),
  }));
  client.onRequest("item/permissions/requestApproval", async (params, context) =>
    answers.permissions(params, about(context)),
  );
  client.onRequest("mcpServer/elicitation/request", async (params, context) =>
    answers.elicitation(params, about(context)),
  );
  client.onRequest("item/tool/requestUserInput", async (params, context) => {
    const chosen = await answers.question(params, about(context));
    const entries = Object.entries(chosen).map(([id, texts]) => [id, { answers: [...texts] }]);
    return { answers: Object.fromEntries(entries) };
  });
}

/** Receives the events about questions. */
export interface QuestionReport {
  /** The user is about to be asked on the terminal. */
  asking(): void;
  decided(decision: Decision): void;
}

/**
 * The decision about an MCP tool call that the host refused because it needs approval and the policy forbids
 * questions.
 */
export function refusedToolCall({ method, params }: Notification): Decision | undefined {
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

/** Answers elicitations that are no yes/no questions: a URL is printed for the user to open, a form is declined. */
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
  // Secrets are not asked for: the terminal would show what is typed.
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
