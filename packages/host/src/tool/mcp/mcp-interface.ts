import type { McpAuthStatus } from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";

/**
 * The MCP servers of all threads. Threads share a server if configuration, owner, folder, roots and trust are the
 * same. Each thread has a lease of the server while it is loaded.
 */
export interface McpServers {
  /** Takes the leases of a loaded thread. */
  load(thread: ThreadState): void;
  /** Releases the leases of a thread. */
  unload(threadId: string): void;
  /** The servers of a thread, sorted by name; empty before the thread is loaded. */
  of(thread: ThreadState): readonly ThreadServer[];
  /**
   * Resolves when each `required` server of a thread is connected or has failed; undefined if no server is required.
   */
  required(thread: ThreadState): Promise<void> | undefined;
}

/** A server as one thread sees it. */
export interface ThreadServer {
  readonly name: string;
  readonly settings: McpServerSettings;
  /**
   * The server's current tools, or the cached ones if the server is not connected. They are in the server's order,
   * and filtered by `enabled_tools` and `disabled_tools`. The array stays the same until the tools change.
   */
  readonly tools: readonly McpTool[];
  readonly instructions: string | null;
  /** Whether the server offers resources. False if that is unknown. */
  readonly hasResources: boolean;
  /** Whether the server offers prompts. False if that is unknown. */
  readonly hasPrompts: boolean;
  /** Resolves when the server's tools are known, or its start has failed; undefined if both are settled. */
  listed(): Promise<void> | undefined;
  /**
   * Calls a tool, after connecting if needed. Rejects with an `McpError`, whose message is written for models, or
   * with the signal's reason.
   */
  call(tool: string, args: unknown, options: McpCallOptions): Promise<McpCallResult>;
  /** One page of the server's list of resources. */
  listResources(cursor: string | null, signal: AbortSignal): Promise<McpResourcePage>;
  listResourceTemplates(cursor: string | null, signal: AbortSignal): Promise<McpResourceTemplatePage>;
  /** `meta`: further metadata of the request. */
  readResource(uri: string, signal: AbortSignal, meta?: object): Promise<McpResourceContents>;
  /** One page of the server's list of prompts. */
  listPrompts(cursor: string | null, signal: AbortSignal): Promise<McpPromptPage>;
  /** The messages of a prompt, with its arguments filled in. */
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<McpPromptMessages>;
}

export interface McpCallOptions {
  readonly signal: AbortSignal;
  /** Called at each progress notification of the call. */
  onProgress(progress: McpProgress): void;
  /** Sent as `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Answers the server's questions during this call. Without it, they are answered with `cancel`. */
  readonly asked?: McpAskHandler | undefined;
}

/** Answers the questions that a server asks during a call. `signal` aborts when the answer is no longer needed. */
export interface McpAskHandler {
  elicit(question: McpElicitation, signal: AbortSignal): Promise<McpElicitationAnswer>;
  /** `sampling/createMessage`, with params and result as in the protocol. */
  sample(params: McpSamplingParams, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
}

/** The params of `elicitation/create`, validated. */
export type McpElicitation =
  | {
      readonly mode: "form";
      readonly message: string;
      readonly requestedSchema: Readonly<Record<string, unknown>>;
      readonly meta: unknown;
    }
  | {
      readonly mode: "url";
      readonly message: string;
      readonly url: string;
      readonly elicitationId: string;
      readonly meta: unknown;
    };

export interface McpElicitationAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, unknown>> | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

export type McpSamplingParams = Readonly<Record<string, unknown>>;

/** A tool as its server describes it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: McpToolAnnotations;
  readonly icons?: readonly unknown[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export interface McpToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/**
 * The result of a call. `content` has blocks of the protocol. Each is an object with a type; the rest of a block is
 * not validated.
 */
export interface McpCallResult {
  readonly content: readonly McpBlock[];
  readonly structuredContent: unknown;
  readonly isError: boolean;
  readonly meta: unknown;
}

export type McpBlock = Readonly<Record<string, unknown>> & { readonly type: string };

export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface McpResourcePage {
  readonly resources: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor: string | null;
}

export interface McpResourceTemplatePage {
  readonly resourceTemplates: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor: string | null;
}

export interface McpResourceContents {
  readonly contents: readonly Readonly<Record<string, unknown>>[];
}

export interface McpPromptPage {
  readonly prompts: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor: string | null;
}

export interface McpPromptMessages {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
}

/** An error of an MCP server. Its message is written for models and users. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly kind: McpErrorKind;
  /** The server's own error code and data, if it refused the request. */
  readonly code: number | undefined;
  readonly data: unknown;
  /** Whether another attempt would fail in the same way. */
  readonly isFinal: boolean;

  constructor(kind: McpErrorKind, message: string, options?: McpErrorOptions) {
    super(message, { cause: options?.cause });
    this.kind = kind;
    this.code = options?.code;
    this.data = options?.data;
    this.isFinal = options?.isFinal ?? false;
  }
}

interface McpErrorOptions {
  readonly cause?: unknown;
  readonly code?: number | undefined;
  readonly data?: unknown;
  readonly isFinal?: boolean;
}

/**
 * `unavailable`: there is no connection, so nothing was called. `expired`: the server has dropped the session and
 * done nothing. `lost`: the connection ended during the call. `timeout`: neither an answer nor progress came in time.
 * `refused`: the server replied with an error. `unauthorized`: a login is needed. `tooLarge`: the reply exceeds a
 * limit. `invalid`: the reply violates the protocol.
 */
export type McpErrorKind =
  | "unavailable"
  | "expired"
  | "lost"
  | "timeout"
  | "refused"
  | "unauthorized"
  | "tooLarge"
  | "invalid";

/** Access tokens of servers at URLs. */
export interface McpAuth {
  /** A valid token, refreshed if needed; undefined if there is none. */
  token(server: McpServerSettings, owner: string): Promise<string | undefined>;
  /**
   * Called when a request was refused with 401. Resolves to another token to try once; undefined if the user has to
   * log in. `challenge`: the `WWW-Authenticate` header.
   */
  refused(
    server: McpServerSettings,
    owner: string,
    refused: { readonly token: string | undefined; readonly challenge: string | null },
  ): Promise<string | undefined>;
  status(server: McpServerSettings, owner: string): Promise<McpAuthStatus>;
  /** A text for the user about how to log in. */
  advice?(server: McpServerSettings): string;
}
