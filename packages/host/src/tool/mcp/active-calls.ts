import type { Platform } from "../../platform/platform.ts";
import { CallTimeout } from "./call-timeout.ts";
import { elicitResult, type McpConnection, type ServerQuestion } from "./connection.ts";
import {
  type McpAskHandler,
  type McpCallOptions,
  type McpCallResult,
  type McpElicitation,
  McpError,
  type McpTool,
} from "./mcp-interface.ts";
import { isJson, type Json } from "./server-offer.ts";
import { within } from "./wait-with-limit.ts";

/** A tool call or another request in progress. */
export interface ActiveCall {
  /** The thread that the request is made for; null if it is made for none, as for a status list. */
  readonly threadId: string | null;
  /** Asks the call's user; undefined if a question during this request cannot be answered. */
  readonly ask: ((question: ServerQuestion<ActiveCall>) => Promise<Json>) | undefined;
}

export interface CallRequest {
  readonly threadId: string;
  readonly tool: McpTool;
  readonly args: Json;
  readonly timeoutMs: number;
  readonly options: McpCallOptions;
}

/** A request other than a tool call. */
export interface OtherRequest {
  readonly threadId: string | null;
  readonly method: string;
  readonly params: Json;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Limit on the open questions of one server. Further questions are refused. */
const MAX_QUESTIONS = 32;
/** How long a server is assumed to work on an aborted request. Most servers stop at once. */
const ABANDONED_MS = 60_000;

/** The requests in progress on one connection, and the server's questions during them. */
export class ActiveCallRegistry {
  readonly #platform: Pick<Platform, "clock" | "timers">;
  /** Called when it is unclear which thread a question belongs to. */
  readonly #ambiguous: () => void;
  readonly #active = new Set<ActiveCall>();
  /**
   * Threads whose requests were aborted, although the server may still be working on them, and until when that is
   * assumed. An unload does not remove a thread, because the server does not notice it.
   */
  readonly #abandoned = new Map<string, number>();
  #questions = 0;

  constructor(platform: Pick<Platform, "clock" | "timers">, ambiguous: () => void) {
    this.#platform = platform;
    this.#ambiguous = ambiguous;
  }

  get size(): number {
    return this.#active.size;
  }

  async run(connection: McpConnection<ActiveCall>, request: CallRequest): Promise<McpCallResult> {
    const { threadId, tool, args, timeoutMs, options } = request;
    const over = new AbortController();
    const timeout = new CallTimeout(this.#platform.timers, timeoutMs, () =>
      over.abort(new McpError("timeout", `there was no answer, and no progress, for ${timeoutMs / 1000} s`)),
    );
    const handler = options.asked;
    const call: ActiveCall = {
      threadId,
      ask: handler && ((question) => timeout.during(() => ask(handler, question))),
    };
    const signal = AbortSignal.any([options.signal, over.signal]);
    try {
      return await this.#during(call, signal, () =>
        connection.call(
          call,
          tool,
          { arguments: args, ...(options.meta && { _meta: options.meta }) },
          {
            signal,
            onProgress: (progress) => {
              timeout.renew();
              options.onProgress(progress);
            },
          },
        ),
      );
    } finally {
      timeout.end();
    }
  }

  /** Sends a request other than a tool call. A question during it is answered with `cancel`. */
  request(
    connection: McpConnection<ActiveCall>,
    { threadId, method, params, timeoutMs, signal: aborted }: OtherRequest,
  ): Promise<Json> {
    const call: ActiveCall = { threadId, ask: undefined };
    const late = (): McpError => new McpError("timeout", `there was no answer for ${timeoutMs / 1000} s`);
    return within(this.#platform.timers, timeoutMs, late, (over) => {
      const signal = AbortSignal.any([aborted, over]);
      return this.#during(call, signal, () => connection.requestDuring(call, method, params, { signal }));
    });
  }

  async #during<T>(call: ActiveCall, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#active.add(call);
    try {
      return await work();
    } catch (cause) {
      if (signal.aborted) this.#abandon(call);
      // Throws the abort's own reason: the library wraps it in another error.
      signal.throwIfAborted();
      throw cause;
    } finally {
      this.#active.delete(call);
    }
  }

  #abandon({ threadId }: ActiveCall): void {
    this.#forgetOld();
    if (threadId !== null) this.#abandoned.set(threadId, this.#platform.clock.monotonic() + ABANDONED_MS);
  }

  /**
   * Passes a question to the call that it belongs to. If the connection does not name the call, it must be a call of
   * the only thread that the server can be working for. If there are two such threads, the question is refused,
   * because a guess could show it to the wrong user.
   */
  async answer(question: ServerQuestion<ActiveCall>): Promise<Json> {
    const call = question.during ?? this.#onlyThreadsCall();
    if (this.#questions >= MAX_QUESTIONS) throw new McpError("refused", "Too many questions at a time.");
    this.#questions++;
    try {
      if (call?.ask === undefined || !this.#active.has(call)) return unanswered(question.kind);
      return await call.ask(question);
    } finally {
      this.#questions--;
    }
  }

  #onlyThreadsCall(): ActiveCall | undefined {
    const calls = [...this.#active].filter(({ threadId }) => threadId !== null);
    const last = calls.findLast(({ ask }) => ask !== undefined);
    // Nobody can be asked, so there is nothing to guess.
    if (last === undefined) return undefined;
    this.#forgetOld();
    const threads = new Set([...this.#abandoned.keys(), ...calls.map(({ threadId }) => threadId)]);
    if (threads.size === 1) return last;
    this.#ambiguous();
    return undefined;
  }

  #forgetOld(): void {
    const now = this.#platform.clock.monotonic();
    for (const [threadId, until] of this.#abandoned) if (until <= now) this.#abandoned.delete(threadId);
  }
}

function unanswered(kind: "elicit" | "sample"): Json {
  if (kind === "elicit") return { action: "cancel" };
  throw new McpError("refused", "Nobody can answer this now.", { code: -1 });
}

async function ask(
  handler: McpAskHandler,
  { kind, params, signal }: ServerQuestion<ActiveCall>,
): Promise<Json> {
  if (kind === "sample") return handler.sample(params, signal);
  return elicitResult(await handler.elicit(elicitationOf(params), signal));
}

function elicitationOf(params: Json): McpElicitation {
  const { mode, message, requestedSchema, url, elicitationId, _meta: meta = null } = params;
  if (typeof message === "string") {
    // The newest protocol version has no elicitation ID.
    if (mode === "url" && typeof url === "string")
      return { mode, message, url, elicitationId: String(elicitationId ?? ""), meta };
    if (mode !== "url" && isJson(requestedSchema)) return { mode: "form", message, requestedSchema, meta };
  }
  throw new McpError("refused", "This is no elicitation.", { code: -32_602 });
}
