import type {
  JSONRPCMessage,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import { LoginError } from "../../oauth/login-error.ts";
import type { Platform } from "../../platform/platform.ts";
import type { ProcessManager } from "../../process/process-manager.ts";
import { boundedResponse } from "./bounded-response.ts";
import type { HttpTarget } from "./connection-target.ts";
import { helperHeaders } from "./headers-helper.ts";
import { type McpAuth, McpError } from "./mcp-interface.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import { MAX_MESSAGE_BYTES } from "./message-lines.ts";
import { UnsolicitedMessageLimit } from "./unsolicited-message-limit.ts";
import { untilAborted } from "./wait-with-limit.ts";

export interface HttpPorts {
  readonly platform: Pick<Platform, "clock" | "fetch" | "timers">;
  readonly processes: ProcessManager;
  readonly auth: McpAuth | null;
}

/** The server and the owner whose OAuth token is used. */
export interface TokenOwner {
  readonly settings: McpServerSettings;
  readonly owner: string;
}

/** Headers that the library sets on each request, and that the configuration cannot override. */
const LIBRARY_HEADERS = /^(accept|content-type|content-length|host|last-event-id|mcp-.*)$/;
/** Number of events that are handled before other work may run. */
const EVENTS_AT_ONCE = 16;
/** Time limit for the request that ends a session. */
const END_SESSION_MS = 1000;

/**
 * Transport to an MCP server at a URL: the library's transport on the platform's `fetch`, with the configured
 * headers, an OAuth token if there is one, and limits on the responses.
 */
export class HttpTransport implements Transport {
  readonly hasPerRequestStream = true;
  readonly #inner: Transport & Pick<StreamableHTTPClientTransport, "terminateSession">;
  readonly #ports: HttpPorts;
  readonly #target: HttpTarget;
  readonly #tokens: TokenOwner;
  readonly #budget: UnsolicitedMessageLimit;
  #helperHeaders: Promise<Readonly<Record<string, string>>> | undefined;
  #failure: McpError | undefined;
  /** The error of an oversized event stream, kept until the request of that stream has failed with it. */
  #exceeded: McpError | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    target: HttpTarget,
    tokens: TokenOwner,
    ports: HttpPorts,
    Inner: typeof StreamableHTTPClientTransport,
  ) {
    this.#target = target;
    this.#tokens = tokens;
    this.#ports = ports;
    this.#budget = new UnsolicitedMessageLimit(ports.platform);
    this.#inner = new Inner(new URL(target.url), {
      fetch: (url, init) => this.#fetch(url, init),
      reconnectionOptions: {
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 60_000,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 1000,
      },
      reconnectionScheduler: (reconnect, delay) => ports.platform.timers.after(delay, reconnect),
      onInsufficientScope: "throw",
    }) as Transport & StreamableHTTPClientTransport;
  }

  /** Why the connection failed; undefined if it has not failed. */
  get failure(): McpError | undefined {
    return this.#failure;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  get onclose(): (() => void) | undefined {
    return this.#inner.onclose;
  }

  set onclose(handler: (() => void) | undefined) {
    this.#inner.onclose = handler;
  }

  get onerror(): ((error: Error) => void) | undefined {
    return this.#inner.onerror;
  }

  set onerror(handler: ((error: Error) => void) | undefined) {
    this.#inner.onerror = handler;
  }

  get onmessage(): Transport["onmessage"] {
    return this.#inner.onmessage;
  }

  set onmessage(handler: Transport["onmessage"]) {
    this.#inner.onmessage = handler;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const id = "method" in message && "id" in message ? message.id : undefined;
    if (id === undefined) return this.#inner.send(message, options);
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      // Makes the call fail now instead of at its timeout. If the call already has its answer, this message is
      // ignored.
      const error = this.#exceeded
        ? { code: TOO_LARGE, message: this.#exceeded.message }
        : { code: STREAM_ENDED, message: "it ended its answer before that was complete" };
      this.#exceeded = undefined;
      this.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    await this.#inner.send(message, { ...options, onRequestStreamEnd });
  }

  /** Ends the session, if there is one. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const { timers } = this.#ports.platform;
    if (this.#inner.sessionId !== undefined && this.#failure === undefined) {
      const over = new AbortController();
      const cancel = timers.after(END_SESSION_MS, () => over.abort());
      await untilAborted(
        this.#inner.terminateSession().catch(() => {}),
        over.signal,
      );
      cancel();
    }
    await this.#inner.close();
    await this.#ports.processes.end(this);
  }

  async #fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    const { platform } = this.#ports;
    const configured = await this.#headers();
    // Configured credentials take precedence over OAuth tokens.
    const auth = configured.authorization === undefined ? this.#ports.auth : null;
    const { settings, owner } = this.#tokens;
    const request = (token: string | undefined): Promise<Response> => {
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(configured))
        if (!LIBRARY_HEADERS.test(name)) headers.set(name, value);
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
      return platform.fetch(url, { ...init, headers });
    };
    try {
      const token = await auth?.token(settings, owner);
      let response = await request(token);
      if (response.status === 401) {
        const challenge = response.headers.get("www-authenticate");
        await response.body?.cancel();
        const other = await auth?.refused(settings, owner, { token, challenge });
        if (other !== undefined) response = await request(other);
        // The new token was refused, too, so the login is no longer valid.
        if (other !== undefined && response.status === 401)
          await auth?.refused(settings, owner, { token: other, challenge });
      }
      if (response.status !== 401) return this.#bounded(response);
      this.#failure = new McpError("unauthorized", auth?.advice?.(settings) ?? "it wants other credentials");
      throw this.#failure;
    } catch (cause) {
      if (cause instanceof McpError || init?.signal?.aborted === true) throw cause;
      if (cause instanceof LoginError) throw new McpError("unavailable", cause.message, { cause });
      const why = `${new URL(url).origin} cannot be reached: ${reasonOf(cause)}`;
      throw new McpError("unavailable", why, { cause });
    }
  }

  #bounded(response: Response): Response {
    const spend = this.#budget.ofStream();
    let events = 0;
    return boundedResponse(response, {
      maxBytes: MAX_MESSAGE_BYTES,
      exceeded: () => {
        this.#exceeded = new McpError("tooLarge", `a message has more than ${MAX_MESSAGE_BYTES} bytes`);
        return this.#exceeded;
      },
      passed: (bytes) => spend(bytes) ?? (++events % EVENTS_AT_ONCE === 0 ? this.#yield() : undefined),
    });
  }

  /** Yields to the event loop, so that a server with many events does not block the others. */
  #yield(): Promise<void> {
    return new Promise((resolve) => this.#ports.platform.timers.soon(resolve));
  }

  async #headers(): Promise<Readonly<Record<string, string>>> {
    const { helper, headers } = this.#target;
    if (helper !== null) this.#helperHeaders ??= helperHeaders(this, helper, this.#ports);
    return { ...headers, ...(await this.#helperHeaders) };
  }
}

/**
 * Error codes of the replies that the transport creates when the server sent none. The protocol does not use these
 * codes.
 */
export const STREAM_ENDED = -32_099;
export const TOO_LARGE = -32_098;

function reasonOf(cause: unknown): string {
  const { message, cause: inner } = cause as Error;
  return inner instanceof Error && inner.message !== "" ? inner.message : message;
}
