import type {
  CommandExecutionApprovalDecision,
  FileChangeApprovalDecision,
  RequestId,
  ServerRequestName,
  ServerRequestParams,
  ServerRequestResult,
  ThreadRequestName,
} from "@bobbin/protocol";
import { RpcError } from "@bobbin/rpc";
import type { PendingRequest } from "./state/thread-state.ts";

/** The second argument of a callback. */
export interface QuestionContext {
  /** Aborts when no answer is needed any more: another client has answered, or the turn has ended. */
  readonly signal: AbortSignal;
  /** The id of the request, the same as in `ThreadState.requests`. */
  readonly requestId: RequestId;
}

type Callback<Params, Answer> = (params: Params, context: QuestionContext) => Answer | Promise<Answer>;

/**
 * Callbacks that answer the host's questions. A question without a callback is refused by this client: the host
 * declines it as soon as every client that follows the thread has refused, so that a person at another client can
 * still answer. A callback keeps running when the connection is lost; its answer is sent on the next one.
 *
 * @example
 * const bobbin = await connect("ws://127.0.0.1:4545", {
 *   answers: {
 *     command: async ({ command }, { signal }) => ((await ask(`Run ${command}?`, signal)) ? "accept" : "decline"),
 *     question: ({ questions }) => Object.fromEntries(questions.map(({ id }) => [id, ["yes"]])),
 *   },
 * });
 */
export interface Answers {
  /** May a command run? */
  readonly command?: Callback<
    ServerRequestParams<"item/commandExecution/requestApproval">,
    CommandExecutionApprovalDecision
  >;
  /** May files be changed? */
  readonly fileChange?: Callback<
    ServerRequestParams<"item/fileChange/requestApproval">,
    FileChangeApprovalDecision
  >;
  /** Decides which of these permissions a turn may have. */
  readonly permissions?: Callback<
    ServerRequestParams<"item/permissions/requestApproval">,
    ServerRequestResult<"item/permissions/requestApproval">
  >;
  /** The model asks the user something. The answer has the chosen texts by the question's id. */
  readonly question?: Callback<
    ServerRequestParams<"item/tool/requestUserInput">,
    Readonly<Record<string, readonly string[]>>
  >;
  /** An MCP server asks the user something. */
  readonly elicitation?: Callback<
    ServerRequestParams<"mcpServer/elicitation/request">,
    ServerRequestResult<"mcpServer/elicitation/request">
  >;
  /** The model calls one of the client's own tools (`dynamicTools` of `startThread`). */
  readonly toolCall?: Callback<ServerRequestParams<"item/tool/call">, ServerRequestResult<"item/tool/call">>;
  /** The host needs new ChatGPT tokens. */
  readonly tokenRefresh?: Callback<
    ServerRequestParams<"account/chatgptAuthTokens/refresh">,
    ServerRequestResult<"account/chatgptAuthTokens/refresh">
  >;
}

/**
 * The methods of questions of threads. They are listed here, so that a page need not load the whole protocol table.
 */
export const THREAD_QUESTIONS = [
  "item/commandExecution/requestApproval",
  "item/fileChange/requestApproval",
  "item/permissions/requestApproval",
  "item/tool/requestUserInput",
  "item/tool/call",
  "mcpServer/elicitation/request",
] as const satisfies readonly ThreadRequestName[];

const METHOD_NOT_FOUND = -32601;

interface Asking {
  readonly threadId: string;
  readonly result: Promise<unknown>;
  /** Answers a question that has no callback. */
  readonly settle: (result: unknown) => void;
  readonly stop: AbortController;
}

/** The open questions, by ID. A sent answer is kept until the host has confirmed it. */
export class OpenQuestions {
  readonly #answers: Answers;
  readonly #manual: boolean;
  readonly #asking = new Map<RequestId, Asking>();

  /** `manual`: whether questions without a callback wait for `settle` instead of being refused. */
  constructor(answers: Answers, manual: boolean) {
    this.#answers = answers;
    this.#manual = manual;
  }

  /** The result for a question. If the question is asked again, it gets the same answer. */
  ask(request: PendingRequest): Promise<unknown> {
    const known = this.#asking.get(request.id);
    if (known !== undefined) return known.result;
    const stop = new AbortController();
    let settle!: (result: unknown) => void;
    const byHand = new Promise<unknown>((resolve) => {
      settle = resolve;
    });
    const answer = this.#callback(request, { signal: stop.signal, requestId: request.id });
    if (answer === undefined && !this.#manual) return Promise.reject(refusal(request.method));
    const result = answer === undefined ? byHand : Promise.race([answer, byHand]);
    this.#asking.set(request.id, { threadId: request.params.threadId, result, settle, stop });
    // A callback that fails refuses the question. The next connection may ask it again.
    result.catch(() => this.#asking.delete(request.id));
    return result;
  }

  /** Answers a question. Returns false if it is not open. */
  settle(id: RequestId, result: unknown): boolean {
    const asking = this.#asking.get(id);
    asking?.settle(result);
    return asking !== undefined;
  }

  resolved(id: RequestId): void {
    const asking = this.#asking.get(id);
    this.#asking.delete(id);
    asking?.stop.abort(new Error("the question was settled"));
  }

  /** Drops the questions of one thread, or all. */
  drop(threadId?: string): void {
    for (const [id, asking] of this.#asking) {
      if (threadId === undefined || asking.threadId === threadId) this.resolved(id);
    }
  }

  #callback({ method, params }: PendingRequest, context: QuestionContext): Promise<unknown> | undefined {
    const { command, fileChange, permissions, question, elicitation, toolCall } = this.#answers;
    switch (method) {
      case "item/commandExecution/requestApproval":
        return command && run(async () => ({ decision: await command(params, context) }));
      case "item/fileChange/requestApproval":
        return fileChange && run(async () => ({ decision: await fileChange(params, context) }));
      case "item/permissions/requestApproval":
        return permissions && run(() => permissions(params, context));
      case "item/tool/requestUserInput":
        return question && run(async () => ({ answers: asAnswers(await question(params, context)) }));
      case "mcpServer/elicitation/request":
        return elicitation && run(() => elicitation(params, context));
      case "item/tool/call":
        return toolCall && run(() => toolCall(params, context));
    }
  }
}

export function refusal(method: ServerRequestName): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `Method not found: this client does not answer ${method}`);
}

/** A callback may throw before it returns a promise. */
async function run(callback: () => unknown): Promise<unknown> {
  return await callback();
}

function asAnswers(answers: Readonly<Record<string, readonly string[]>>): object {
  return Object.fromEntries(Object.entries(answers).map(([id, texts]) => [id, { answers: [...texts] }]));
}
