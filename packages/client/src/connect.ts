import type { InitializeCapabilities } from "@bobbin/protocol";
import { Bobbin } from "./bobbin.ts";
import { connectWebSocket, type WebSocketOptions } from "./connect-websocket.ts";
import type { OpenConnection } from "./connection/connection-keeper.ts";
import { DEFAULT_DELAYS, type RetryDelays } from "./connection/retry-delay.ts";
import type { Answers } from "./server-request-answers.ts";

/** Options of `connect`. */
export interface ConnectOptions extends Omit<WebSocketOptions, "signal"> {
  /** The name of this program, which is sent to the host. */
  readonly name?: string;
  /** The version of this program. */
  readonly version?: string;
  /** The name of this program as users know it. */
  readonly title?: string;
  /** Further capabilities of `initialize`. The experimental API and cursors are always asked for. */
  readonly capabilities?: InitializeCapabilities;
  /** Callbacks for approvals and other questions. Without one, this client refuses the question. */
  readonly answers?: Answers;
  /** For user interfaces: questions without a callback stay in `state.requests` until `thread.answer` is called. */
  readonly answerByHand?: boolean;
  /** Keeps trying if the first connection cannot be made. Without it, `connect` rejects then. */
  readonly waitForHost?: boolean;
  /** The delays between attempts. Default: 100 ms after the first failure, doubled up to 10 seconds. */
  readonly retry?: Partial<RetryDelays>;
  /**
   * Detects a host that hangs, or a network that was lost: after this many milliseconds without a notification, the
   * client sends a request, and after as many without a reply it makes a new connection. 0: never. Default:
   * 15 seconds for an address, 0 for a function.
   */
  readonly heartbeatMs?: number;
  /** Closes the connection for good. */
  readonly signal?: AbortSignal;
}

const HEARTBEAT_MS = 15_000;

/**
 * Connects to a host, and connects again whenever the connection is lost.
 *
 * `target` is `ws://…` or `wss://…`, in Node also `unix://PATH` with the option `WebSocket` of the package `ws`, or a
 * function that opens a connection, such as `stdio()` of `@bobbin/client/node`. The function is called for each connection,
 * so it can fetch a new token.
 *
 * @example
 * const bobbin = await connect("ws://127.0.0.1:4545", {
 *   answers: { command: ({ command }) => (command === "ls" ? "accept" : "decline") },
 * });
 * const thread = await bobbin.startThread();
 * console.log((await thread.run("List the files here")).text);
 */
export async function connect(
  target: string | URL | OpenConnection,
  options: ConnectOptions = {},
): Promise<Bobbin> {
  const { signal, title } = options;
  signal?.throwIfAborted();
  const bobbin = new Bobbin({
    open: typeof target === "function" ? target : webSocketOpener(String(target), options),
    clientInfo: {
      name: options.name ?? "bobbin-client",
      version: options.version ?? "0.1.0",
      ...(title !== undefined && { title }),
    },
    capabilities: { ...options.capabilities, experimentalApi: true, eventCursor: true },
    answers: options.answers ?? {},
    answerByHand: options.answerByHand ?? false,
    delays: { ...DEFAULT_DELAYS, ...options.retry },
    heartbeatMs: options.heartbeatMs ?? (typeof target === "function" ? 0 : HEARTBEAT_MS),
  });
  const close = () => void bobbin.close();
  signal?.addEventListener("abort", close, { once: true });
  try {
    await bobbin.start(options.waitForHost ?? false);
  } catch (cause) {
    signal?.removeEventListener("abort", close);
    signal?.throwIfAborted();
    throw cause;
  }
  return bobbin;
}

function webSocketOpener(url: string, { protocols, headers, WebSocket }: ConnectOptions): OpenConnection {
  const socketUrl = url.startsWith("unix://") ? `ws+unix://${url.slice("unix://".length)}:/` : url;
  return (signal) =>
    connectWebSocket(socketUrl, {
      signal,
      ...(protocols && { protocols }),
      ...(headers && { headers }),
      ...(WebSocket && { WebSocket }),
    });
}
