import type { ThreadState } from "../../core/state.ts";
import { messageOf } from "../../errors.ts";
import type { Platform } from "../../platform/platform.ts";
import type { McpCall } from "./call-item.ts";
import { CallProgress } from "./call-progress.ts";
import {
  type McpAskHandler,
  type McpCallResult,
  type McpElicitation,
  McpError,
  type McpServers,
  type ThreadServer,
} from "./mcp-interface.ts";
import type { PerformedCall } from "./mcp-tool.ts";
import { shownResult } from "./result-for-clients.ts";
import { modelOutput, partsForFiles } from "./result-for-model.ts";
import { type ReadResult, readResult } from "./result-parts.ts";
import type { UserQuestions } from "./user-questions.ts";

export interface ModelCallPorts {
  readonly platform: Pick<Platform, "clock" | "timers">;
  readonly servers: Pick<McpServers, "of">;
  readonly questions: UserQuestions;
  /** Sends a call's progress to the thread's subscribers. */
  progress(threadId: string, progress: { turnId: string; itemId: string; message: string }): void;
  /**
   * Writes content that is too long for the model to a file of the thread. Resolves to the file's path if the
   * thread's commands can read the file.
   */
  writeFile(thread: ThreadState, name: string, content: string | Uint8Array): Promise<string | undefined>;
}

/** Error code of a call for which the user has to visit a page first. */
const URL_ELICITATION_REQUIRED = -32_042;
/** Limit on the pages that one call may ask for. */
const MAX_PAGES = 4;

/** Calls MCP tools for models. */
export class ModelToolCalls {
  readonly #ports: ModelCallPorts;

  constructor(ports: ModelCallPorts) {
    this.#ports = ports;
  }

  serverOf(thread: ThreadState, name: string): ThreadServer | undefined {
    return this.#ports.servers.of(thread).find((server) => server.name === name);
  }

  /** Makes the call and reads the result. Rejects only if `signal` aborts. */
  async perform(call: McpCall, signal: AbortSignal): Promise<PerformedCall> {
    const { server: name, tool, invocation } = call;
    const { thread, turnId, args } = invocation;
    const { callId } = invocation.call;
    const threadId = thread.facts.id;
    const { clock, timers } = this.#ports.platform;
    const server = this.serverOf(thread, name);
    const progress = new CallProgress(timers, (message) =>
      this.#ports.progress(threadId, { turnId, itemId: callId, message }),
    );
    const calledAt = clock.now();
    try {
      if (server === undefined)
        throw new McpError("unavailable", `The MCP server ${name} is not there any more.`);
      const handler = this.#ports.questions.handlerOf(
        { threadId, callId, server: name, direct: false },
        signal,
      );
      const options = {
        signal,
        onProgress: (news: Parameters<CallProgress["received"]>[0]) => progress.received(news),
        meta: { threadId, callId },
        asked: handler,
      };
      const make = (): Promise<McpCallResult> => server.call(tool.name, args, options);
      const result = await make().catch(async (cause: unknown) => {
        await this.#visit(cause, handler, signal);
        return make();
      });
      return await this.#ended(call, readResult(result), calledAt);
    } catch (cause) {
      signal.throwIfAborted();
      const error = cause instanceof McpError ? cause.message : `The call failed: ${messageOf(cause)}`;
      return { output: error, success: false, result: null, error, at: clock.now(), calledAt };
    } finally {
      // An interrupted call has completed its item, so no progress may follow.
      if (!signal.aborted) progress.flush();
      progress.end();
    }
  }

  async #ended({ invocation }: McpCall, read: ReadResult, calledAt: number): Promise<PerformedCall> {
    const files = new Map<number, string>();
    for (const { at, extension, content } of partsForFiles(read)) {
      const name = `${invocation.call.callId}-${at + 1}.${extension}`;
      // If the file cannot be written, for example on a full disk, the rest of the result is still used.
      const path = await this.#ports.writeFile(invocation.thread, name, content).catch(() => undefined);
      if (path !== undefined) files.set(at, path);
    }
    const output = modelOutput(read, (at) => files.get(at));
    const at = this.#ports.platform.clock.now();
    return { output, success: read.success, result: shownResult(read), error: null, at, calledAt };
  }

  /**
   * Asks the user to visit the pages that the server demands before the call. Throws the server's refusal if it names
   * no pages, or if the user declines.
   */
  async #visit(cause: unknown, handler: McpAskHandler, signal: AbortSignal): Promise<void> {
    const pages =
      cause instanceof McpError && cause.code === URL_ELICITATION_REQUIRED ? pagesIn(cause.data) : [];
    if (pages.length === 0) throw cause;
    for (const page of pages) {
      const { action } = await handler.elicit(page, signal);
      if (action !== "accept")
        throw new McpError("refused", "The call needs the user to visit a page first, and the user did not.");
    }
  }
}

function pagesIn(data: unknown): readonly McpElicitation[] {
  const { elicitations } = Object(data) as { readonly elicitations?: unknown };
  if (!Array.isArray(elicitations)) return [];
  return elicitations.slice(0, MAX_PAGES).flatMap((one): McpElicitation[] => {
    const { mode, url, message, elicitationId } = Object(one) as Record<string, unknown>;
    if (mode !== "url" || typeof url !== "string" || typeof message !== "string") return [];
    return [{ mode, url, message, elicitationId: String(elicitationId ?? ""), meta: null }];
  });
}
