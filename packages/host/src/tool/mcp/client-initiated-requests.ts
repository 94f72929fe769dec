import type {
  McpResourceReadResponse,
  McpServerPromptGetResponse,
  McpServerPromptListResponse,
  McpServerToolCallResponse,
  ResourceContent,
} from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import { fault, messageOf } from "../../errors.ts";
import type { Ids, Timers } from "../../platform/platform.ts";
import { McpError, type McpResourceContents, type McpServers } from "./mcp-interface.ts";
import { shownResult } from "./result-for-clients.ts";
import { readResult } from "./result-parts.ts";
import { listPrompts, promptInput } from "./server-prompts.ts";
import type { UserQuestions } from "./user-questions.ts";

export interface ClientCallPorts {
  readonly ids: Ids;
  readonly timers: Timers;
  readonly servers: Pick<McpServers, "of">;
  readonly questions: UserQuestions;
}

/** A tool call that a client makes by itself (`mcpServer/tool/call`). */
export interface ClientCall {
  readonly server: string;
  readonly tool: string;
  readonly args: unknown;
  readonly meta: unknown;
}

/** A prompt that a client asks for (`mcpServer/prompt/get`). */
export interface ClientPrompt {
  readonly server: string;
  readonly prompt: string;
  readonly args: Readonly<Record<string, string>>;
}

/** Limit on the characters of a resource that a client gets. */
const MAX_TEXT = 4 * 1024 * 1024;

/**
 * Tool calls, resource reads and prompts that clients ask for by themselves, without a model. Each is aborted when
 * its client disconnects or its thread is unloaded.
 */
export class ClientInitiatedRequests {
  readonly #ports: ClientCallPorts;
  readonly #running = new Set<{ readonly caller: object; readonly threadId: string | null; abort(): void }>();

  constructor(ports: ClientCallPorts) {
    this.#ports = ports;
  }

  async call(caller: object, thread: ThreadState, call: ClientCall): Promise<McpServerToolCallResponse> {
    const { servers, questions, ids } = this.#ports;
    const threadId = thread.facts.id;
    const { args, meta, tool } = call;
    const server = servers.of(thread).find(({ name }) => name === call.server);
    if (server === undefined) throw fault("mcpServerNotFound", call.server);
    const asking = { threadId, callId: `direct_${ids.uuid()}`, server: server.name, direct: true };
    const result = await this.#run(caller, threadId, (signal) =>
      server.call(tool, args ?? {}, {
        signal,
        onProgress: () => {},
        meta: { ...(isObject(meta) && meta), threadId },
        asked: questions.handlerOf(asking, signal),
      }),
    );
    const { content, structuredContent, _meta } = shownResult(readResult(result));
    return {
      content,
      ...(structuredContent !== null && { structuredContent }),
      ...(result.isError && { isError: true }),
      ...(_meta !== null && { _meta }),
    };
  }

  /** Reads a resource for a client. `read` resolves to undefined if there is no such server. */
  async read(
    caller: object,
    threadId: string | null,
    server: string,
    read: (signal: AbortSignal) => Promise<McpResourceContents | undefined>,
  ): Promise<McpResourceReadResponse> {
    const found = await this.#run(caller, threadId, read);
    if (found === undefined) throw fault("mcpServerNotFound", server);
    return { contents: found.contents.flatMap(contentOf), originCallId: null };
  }

  /** Lists the prompts of a thread's servers. */
  async prompts(caller: object, thread: ThreadState): Promise<McpServerPromptListResponse> {
    const { servers, timers } = this.#ports;
    return this.#run(caller, thread.facts.id, (signal) => listPrompts(servers.of(thread), timers, signal));
  }

  /** Asks a server for the messages of one of its prompts, with the arguments filled in. */
  async prompt(
    caller: object,
    thread: ThreadState,
    { server: name, prompt, args }: ClientPrompt,
  ): Promise<McpServerPromptGetResponse> {
    const server = this.#ports.servers.of(thread).find((one) => one.name === name);
    if (server === undefined) throw fault("mcpServerNotFound", name);
    const found = await this.#run(caller, thread.facts.id, (signal) =>
      server.getPrompt(prompt, args, signal),
    );
    return { input: promptInput(found) };
  }

  /** Aborts the calls of a client that has disconnected. */
  left(caller: object): void {
    for (const run of this.#running) if (run.caller === caller) run.abort();
  }

  unload(threadId: string): void {
    for (const run of this.#running) if (run.threadId === threadId) run.abort();
  }

  async #run<T>(
    caller: object,
    threadId: string | null,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const run = { caller, threadId, abort: () => controller.abort(fault("threadNotFound", threadId ?? "")) };
    this.#running.add(run);
    try {
      return await work(controller.signal);
    } catch (cause) {
      controller.signal.throwIfAborted();
      throw cause instanceof McpError ? fault("mcpRequestFailed", messageOf(cause)) : cause;
    } finally {
      this.#running.delete(run);
      // Cancels questions of the server that are still open.
      controller.abort();
    }
  }
}

/** The valid contents of a resource, without malformed ones. */
function contentOf(value: Readonly<Record<string, unknown>>): ResourceContent[] {
  const { uri, mimeType, text, blob, _meta } = value;
  if (typeof uri !== "string") return [];
  const about = {
    uri,
    ...(typeof mimeType === "string" && { mimeType }),
    ...(_meta !== undefined && { _meta }),
  };
  if (typeof text === "string") return [{ ...about, text: text.slice(0, MAX_TEXT) }];
  return typeof blob === "string" ? [{ ...about, blob }] : [];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
