import type { McpServerElicitationRequestResponse } from "@bobbin/protocol";
import type { RapCommand } from "../../core/rap/commands.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { ServerQuestionCommand } from "../../core/requests/commands.ts";
import { serverDecision } from "../../core/requests/mcp-server-answers.ts";
import type { ServerQuestion } from "../../core/requests/mcp-server-questions.ts";
import type { RequestAnswer } from "../../core/requests/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Consent, Intent } from "../consent/consent.ts";
import { externalToolConsent } from "../consent/external-tool-consent.ts";
import { samplingGrant } from "../consent/mcp-consent.ts";
import {
  type McpAskHandler,
  type McpElicitation,
  type McpElicitationAnswer,
  McpError,
} from "./mcp-interface.ts";
import { readElicitation } from "./read-elicitation.ts";
import { readSampling, type SamplingRequest, samplingQuestion, samplingResult } from "./sampling.ts";

export interface UserQuestionPorts {
  readonly platform: Pick<Platform, "clock" | "ids">;
  /** Submits a command to a loaded thread; undefined if the thread is closed. */
  submit(
    threadId: string,
    command: ServerQuestionCommand | Extract<RapCommand, { kind: "lookUp" }>,
  ): Promise<Submitted | undefined>;
  /** Keeps the URL of a question in memory. No record contains the URL. */
  hold(requestId: number, url: string): void;
  forget(threadId: string, requestId: number): Promise<void>;
  /** Asks the thread's model. */
  sample(threadId: string, request: SamplingRequest, signal: AbortSignal): Promise<Sampled>;
}

interface Submitted {
  readonly state: ThreadState;
  readonly records: readonly ThreadRecord[];
}

/** The model's answer to a server. */
export interface Sampled {
  readonly text: string;
  readonly model: string;
  readonly usage: Extract<ServerQuestionCommand, { kind: "serverSampled" }>["usage"];
}

/** The call during which a server asks. */
export interface AskingCall {
  readonly threadId: string;
  readonly callId: string;
  readonly server: string;
  /** Whether a client made the call, not a model. */
  readonly direct: boolean;
}

/** Limit on the sampling requests during one call. */
const MAX_SAMPLES = 16;

const CANCEL: McpElicitationAnswer = { action: "cancel" };

/**
 * Asks users the questions of MCP servers. A question is recorded in its thread, so that it outlives client
 * connections. It is withdrawn when the server's connection ends.
 */
export class UserQuestions {
  readonly #ports: UserQuestionPorts;
  /** Resolvers of open questions, by request ID. */
  readonly #waiting = new Map<number, (answer: RequestAnswer) => void>();

  constructor(ports: UserQuestionPorts) {
    this.#ports = ports;
  }

  /**
   * The handler for a server's questions during one call. `callEnded` aborts when the call has ended; no question is
   * asked after that.
   */
  handlerOf(call: AskingCall, callEnded: AbortSignal): McpAskHandler {
    let samples = 0;
    return {
      elicit: (question, signal) => this.#elicit(call, question, AbortSignal.any([signal, callEnded])),
      sample: async (params, signal) => {
        if (++samples > MAX_SAMPLES) throw refused(`one call may use the model ${MAX_SAMPLES} times`);
        return this.#sample(call, readSampling(params), AbortSignal.any([signal, callEnded]));
      },
    };
  }

  /** Resolves the questions that a commit answers. Called after each commit of a thread. */
  committed({ records }: Commit): void {
    if (this.#waiting.size === 0) return;
    for (const record of records)
      if (record.type === "requestResolved") this.#waiting.get(record.requestId)?.(record.answer);
  }

  async #elicit(
    call: AskingCall,
    elicitation: McpElicitation,
    signal: AbortSignal,
  ): Promise<McpElicitationAnswer> {
    const { question, url } = readElicitation(elicitation);
    const consent = await this.#consent(call, { kind: "tool", key: "", asks: true });
    if (consent === undefined) return CANCEL;
    if (consent.kind === "refuse") return { action: "decline" };
    return elicited(await this.#ask(call, question, url, null, signal));
  }

  async #sample(
    call: AskingCall,
    request: SamplingRequest,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { threadId, callId, server } = call;
    if (call.direct) throw refused("the model is only used for calls of a turn");
    const grant = samplingGrant(server);
    const consent = await this.#consent(call, { kind: "tool", key: grant, asks: true });
    if (consent === undefined) throw refused("the thread is closed");
    if (consent.kind === "refuse") throw refused("this thread is set to ask nobody");
    if (consent.kind === "ask") {
      const answer = await this.#ask(call, samplingQuestion(server, request), null, grant, signal);
      if (serverDecision(answer) === "no") throw refused("the user did not allow it");
    }
    const sampled = await this.#ports.sample(threadId, request, signal);
    signal.throwIfAborted();
    const { usage } = sampled;
    // The token usage is recorded before the server gets the answer.
    const at = this.#ports.platform.clock.now();
    await this.#ports.submit(threadId, { kind: "serverSampled", at, callId, server, usage });
    return samplingResult(request, sampled);
  }

  async #consent({ threadId }: AskingCall, what: Intent): Promise<Consent | undefined> {
    const at = this.#ports.platform.clock.now();
    const now = await this.#ports.submit(threadId, { kind: "lookUp", at });
    return now && externalToolConsent(now.state, what);
  }

  /** Resolves with the user's answer, or when the question is withdrawn. */
  async #ask(
    call: AskingCall,
    question: ServerQuestion,
    url: string | null,
    grant: string | null,
    signal: AbortSignal,
  ): Promise<RequestAnswer> {
    const { clock, ids } = this.#ports.platform;
    const requestId = ids.integer();
    const { threadId } = call;
    const answered = new Promise<RequestAnswer>((resolve) => this.#waiting.set(requestId, resolve));
    if (url !== null) this.#ports.hold(requestId, url);
    const withdraw = (): void => {
      this.#waiting.get(requestId)?.({ kind: "cleared" });
      // A closed thread has already withdrawn the question.
      this.#ports
        .submit(threadId, { kind: "withdrawQuestion", at: clock.now(), requestId })
        .catch(() => undefined);
    };
    try {
      const command = { kind: "askForServer", at: clock.now(), requestId, ...call } as const;
      const submitted = await this.#ports.submit(threadId, {
        ...command,
        question,
        sealed: url !== null,
        grant,
      });
      const isAsked = submitted?.records.some((record) => record.type === "requestSent") ?? false;
      if (!isAsked) {
        await this.#ports.forget(threadId, requestId);
        return { kind: "cleared" };
      }
      if (signal.aborted) withdraw();
      else signal.addEventListener("abort", withdraw, { once: true });
      return await answered;
    } finally {
      signal.removeEventListener("abort", withdraw);
      this.#waiting.delete(requestId);
    }
  }
}

/** A question without an answer counts as cancelled, not as declined. */
function elicited(answer: RequestAnswer): McpElicitationAnswer {
  if (answer.kind !== "result") return CANCEL;
  const { action, content, _meta: meta } = answer.result as McpServerElicitationRequestResponse;
  if (action !== "accept") return { action };
  return {
    action,
    ...(isObject(content) && { content }),
    ...(isObject(meta) && { meta }),
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refused(why: string): McpError {
  return new McpError("refused", `The model was not asked: ${why}.`);
}
