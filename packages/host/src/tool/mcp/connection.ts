import { AsyncLocalStorage } from "node:async_hooks";
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { BOBBIN_VERSION } from "../../version.ts";
import { type Library, loadLibrary } from "./client-library.ts";
import type { McpTarget } from "./connection-target.ts";
import { errorOf } from "./error-conversion.ts";
import { type HttpPorts, HttpTransport, type TokenOwner } from "./http-transport.ts";
import {
  type McpCallResult,
  type McpElicitationAnswer,
  McpError,
  type McpProgress,
  type McpTool,
} from "./mcp-interface.ts";
import { instructionsOf, isJson, type Json, MAX_TOOLS, type ServerOffer, toolsIn } from "./server-offer.ts";
import { type StdioPorts, StdioTransport } from "./stdio-transport.ts";

export interface ConnectionPorts extends StdioPorts, HttpPorts {
  readonly platform: StdioPorts["platform"] & HttpPorts["platform"];
}

/** A request from a server to its client: an elicitation, or sampling. */
export type ServerQuestion<Call> = {
  /** The call or other request that it belongs to; undefined if the protocol version does not say. */
  readonly during: Call | undefined;
  readonly params: Json;
  readonly signal: AbortSignal;
} & ({ readonly kind: "elicit" } | { readonly kind: "sample" });

/** Receives the events of a connection. */
export interface ConnectionListener<Call> {
  /** Resolves to the result of the request. If it throws, the error is sent to the server. */
  asked(question: ServerQuestion<Call>): Promise<Json>;
  /** The server has sent `notifications/tools/list_changed`. */
  toolsChanged(): void;
  /** Called when the connection ended without being closed by this side. */
  lost(why: McpError): void;
}

export interface ConnectOptions {
  readonly signal: AbortSignal;
  /**
   * Whether the server is known to support only older protocol versions. Then `server/discover` is not tried first.
   */
  readonly isLegacy: boolean;
}

/** A timeout so long that the library's own timeouts never fire. The platform's timers are used instead. */
const NEVER_MS = 2 ** 31 - 1;
const MAX_PAGES = 100;
/** Limit on the questions that a server may ask before it answers a call. */
const MAX_ROUNDS = 10;

/** A connection to an MCP server. `Call` is the type by which the owner identifies a call. */
export class McpConnection<Call extends object> {
  readonly #client: Client;
  readonly #transport: StdioTransport | HttpTransport;
  readonly #library: Library;
  readonly #listener: ConnectionListener<Call>;
  readonly #calls: AsyncLocalStorage<Call>;
  readonly #roots: readonly string[];
  #isClosed = false;

  private constructor(
    library: Library,
    transport: StdioTransport | HttpTransport,
    roots: readonly string[],
    listener: ConnectionListener<Call>,
  ) {
    this.#library = library;
    this.#transport = transport;
    this.#listener = listener;
    this.#roots = roots;
    this.#calls = new AsyncLocalStorage();
    this.#client = new library.Client(
      { name: "bobbin", title: "Bobbin", version: BOBBIN_VERSION },
      {
        capabilities: { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } },
        versionNegotiation: { mode: "auto", probe: { timeoutMs: NEVER_MS } },
        inputRequired: { autoFulfill: false },
        // The library's JSON Schema validation is switched off, because the schemas come from servers.
        jsonSchemaValidator: {
          getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
        },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: 0, onChanged: () => listener.toolsChanged() },
        },
      },
    );
    this.#client.setRequestHandler("roots/list", () => this.#listRoots());
    this.#client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
      this.#asked("elicit", params, mcpReq.signal),
    );
    this.#client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) =>
      this.#asked("sample", params, mcpReq.signal),
    );
    // Protocol errors of a server are ignored as long as the server answers.
    this.#client.onerror = () => {};
    this.#client.onclose = () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      listener.lost(this.#transport.failure ?? new McpError("lost", "it closed the connection"));
    };
  }

  /** Resolves when the handshake is complete. Rejects with an `McpError` after the process or session has ended. */
  static async open<Call extends object>(
    target: McpTarget,
    tokens: TokenOwner,
    ports: ConnectionPorts,
    listener: ConnectionListener<Call>,
    options: ConnectOptions,
  ): Promise<McpConnection<Call>> {
    const library = await loadLibrary();
    const open = async (isLegacy: boolean): Promise<McpConnection<Call>> => {
      const { transport: to } = target;
      const transport =
        to.kind === "stdio"
          ? new StdioTransport(to, ports)
          : new HttpTransport(to, tokens, ports, library.StreamableHTTPClientTransport);
      const connection = new McpConnection(library, transport, target.roots, listener);
      await connection.#connect({ ...options, isLegacy });
      return connection;
    };
    try {
      return await open(options.isLegacy);
    } catch (cause) {
      // Some older servers exit when they get an unknown request.
      const isOlder = cause instanceof McpError && cause.kind === "lost" && target.transport.kind === "stdio";
      if (!isOlder || options.isLegacy || options.signal.aborted) throw cause;
      return open(true);
    }
  }

  async #connect({ signal, isLegacy }: ConnectOptions): Promise<void> {
    const abort = (): void => void this.close();
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      await this.#client.connect(this.#transport, {
        signal,
        timeout: NEVER_MS,
        ...(isLegacy && { prior: { kind: "legacy" } }),
      });
    } catch (cause) {
      this.#isClosed = true;
      // Determined before the close, because after it the exit of the process would be taken for the cause.
      const error = this.#errorOf(cause);
      await this.#transport.close();
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /**
   * Whether the connection uses an older protocol version, in which a server's request does not name the call that it
   * belongs to.
   */
  get isLegacy(): boolean {
    return this.#client.getProtocolEra() !== "modern";
  }

  /** Asks the server for its tools, instructions and capabilities. */
  async offered(signal: AbortSignal): Promise<ServerOffer> {
    const capabilities = this.#client.getServerCapabilities() ?? {};
    const serverInfo = this.#client.getServerVersion();
    const tools = new Map<string, McpTool>();
    let toolListMeta: unknown = null;
    let cursor: string | undefined;
    for (let page = 0; capabilities.tools !== undefined && page < MAX_PAGES; page++) {
      const result = await this.request("tools/list", cursor === undefined ? {} : { cursor }, { signal });
      const known = tools.size;
      for (const tool of toolsIn(result.tools)) if (!tools.has(tool.name)) tools.set(tool.name, tool);
      toolListMeta ??= result._meta ?? null;
      const last = cursor;
      cursor = typeof result.nextCursor === "string" ? result.nextCursor : undefined;
      // A server that sends the same page again would send it forever.
      if (cursor === undefined || tools.size >= MAX_TOOLS || (cursor === last && tools.size === known)) break;
    }
    return {
      tools: [...tools.values()].slice(0, MAX_TOOLS),
      instructions: instructionsOf(this.#client.getInstructions()),
      serverInfo: isJson(serverInfo) ? serverInfo : null,
      capabilities: isJson(capabilities) ? capabilities : {},
      toolListMeta,
    };
  }

  /** Sends a request whose result may be any object. */
  async request(method: string, params: Json, options: RequestOptions): Promise<Json> {
    try {
      const request = { method, params };
      return (await this.#client.request(request, anyObject, { timeout: NEVER_MS, ...options })) as Json;
    } catch (cause) {
      throw this.#errorOf(cause);
    }
  }

  /** Sends a request. Requests that the server sends during it are passed to the listener with `call`. */
  requestDuring(call: Call, method: string, params: Json, options: RequestOptions): Promise<Json> {
    return this.#calls.run(call, () => this.request(method, params, options));
  }

  /** Calls a tool. Requests that the server sends during the call are passed to the listener with `call`. */
  async call(
    call: Call,
    tool: McpTool,
    params: { readonly arguments: Json; readonly _meta?: Json | undefined },
    options: { readonly signal: AbortSignal; onProgress(progress: McpProgress): void },
  ): Promise<McpCallResult> {
    const { signal } = options;
    const requestOptions: RequestOptions = {
      signal,
      timeout: NEVER_MS,
      onprogress: (progress) => options.onProgress(progress as McpProgress),
    };
    let rest: Json = {};
    for (let round = 0; round <= MAX_ROUNDS; round++) {
      const callParams = { name: tool.name, ...params, ...rest };
      const result = await this.#calls.run(call, () => this.#send(tool, callParams, requestOptions));
      if (result.resultType !== "input_required") return resultOf(result);
      rest = {
        inputResponses: await this.#answers(call, result.inputRequests, signal),
        ...(result.requestState !== undefined && { requestState: result.requestState }),
      };
    }
    throw new McpError("invalid", `it asked more than ${MAX_ROUNDS} times in one call`);
  }

  async #send(tool: McpTool, params: Json, options: RequestOptions): Promise<Json> {
    if (this.isLegacy) return this.request("tools/call", params, options);
    const { outputSchema: _, ...toolDefinition } = tool;
    try {
      // The library adds headers that some tools require in the newest protocol version.
      const result: unknown = await this.#client.callTool(params as never, {
        ...options,
        allowInputRequired: true,
        toolDefinition: toolDefinition as never,
      });
      return isJson(result) ? result : {};
    } catch (cause) {
      throw this.#errorOf(cause);
    }
  }

  /** Answers the `inputRequests` of a call in the newest protocol version. */
  async #answers(call: Call, requests: unknown, signal: AbortSignal): Promise<Json> {
    const entries = Object.entries(isJson(requests) ? requests : {});
    const answers = entries.map(async ([key, request]): Promise<[string, Json]> => {
      const { method, params } = isJson(request) ? request : {};
      if (method === "roots/list") return [key, this.#listRoots()];
      const kind =
        method === "elicitation/create" ? "elicit" : method === "sampling/createMessage" ? "sample" : null;
      if (kind === null) throw new McpError("invalid", "it asked something that no client can answer");
      return [
        key,
        await this.#listener.asked({ kind, during: call, params: isJson(params) ? params : {}, signal }),
      ];
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  #listRoots(): { roots: { uri: string; name: string }[] } {
    return { roots: rootsOf(this.#roots) };
  }

  /** Closes the connection. Idempotent; resolves when the process or session has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#transport.close();
  }

  async #asked(kind: "elicit" | "sample", params: unknown, signal: AbortSignal): Promise<never> {
    const question = { kind, during: this.#calls.getStore(), params: isJson(params) ? params : {}, signal };
    // The library validates the result.
    return (await this.#listener.asked(question)) as never;
  }

  #errorOf(cause: unknown): McpError {
    return errorOf(cause, this.#library, this.#transport);
  }
}

/** The answer to an elicitation in the protocol's form. */
export function elicitResult({ action, content, meta }: McpElicitationAnswer): Json {
  return { action, ...(content && { content }), ...(meta && { _meta: meta }) };
}

function rootsOf(folders: readonly string[]): { uri: string; name: string }[] {
  return folders.map((folder) => ({
    uri: new URL(`file://${folder.split("/").map(encodeURIComponent).join("/")}`).href,
    name: folder.split("/").pop() || folder,
  }));
}

function resultOf(result: Json): McpCallResult {
  const content = Array.isArray(result.content) ? result.content : [];
  return {
    content: content.filter((block) => isJson(block) && typeof block.type === "string"),
    structuredContent: result.structuredContent ?? null,
    isError: result.isError === true,
    meta: result._meta ?? null,
  };
}

const anyObject = {
  "~standard": {
    version: 1 as const,
    vendor: "bobbin",
    validate: (value: unknown) =>
      isJson(value) ? { value } : { issues: [{ message: "expected an object" }] },
  },
};
