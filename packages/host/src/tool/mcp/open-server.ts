import type { Supervisor } from "../../observe/supervise.ts";
import { type ActiveCall, ActiveCallRegistry } from "./active-calls.ts";
import { type ConnectionPorts, McpConnection } from "./connection.ts";
import type { McpTarget } from "./connection-target.ts";
import type { TokenOwner } from "./http-transport.ts";
import { McpError } from "./mcp-interface.ts";
import type { ServerFactsCache } from "./server-facts-cache.ts";
import { ToolRefresh } from "./tool-refresh.ts";

/** Whose OAuth tokens a server's connection uses, and under which key the server is cached. */
export interface OpenSpec {
  readonly tokens: TokenOwner;
  readonly knownAs: string;
}

export interface OpenPorts extends ConnectionPorts {
  readonly supervisor: Supervisor;
  readonly known: ServerFactsCache;
}

/** A connected server. */
export interface OpenServer {
  readonly connection: McpConnection<ActiveCall>;
  readonly calls: ActiveCallRegistry;
}

/**
 * Connects to a server, caches its offer, and then follows changes of its tool list. Rejects with an `McpError` or
 * the signal's reason, after closing the connection.
 */
export async function openServer(
  target: McpTarget,
  { tokens, knownAs }: OpenSpec,
  ports: OpenPorts,
  signal: AbortSignal,
  lost: (why: McpError) => void,
): Promise<OpenServer> {
  const { platform, known, supervisor } = ports;
  const { timers, clock } = platform;
  const calls = new ActiveCallRegistry(platform, () => known.isolate(knownAs));
  const list = async (over: AbortSignal): Promise<void> =>
    known.offered(knownAs, await connection.offered(over), connection.isLegacy);
  const refresh = new ToolRefresh({ timers, supervisor, limitMs: target.startupTimeoutMs, list });
  const connection: McpConnection<ActiveCall> = await McpConnection.open<ActiveCall>(
    target,
    tokens,
    ports,
    { asked: (question) => calls.answer(question), toolsChanged: () => refresh.changed(), lost },
    { signal, isLegacy: known.of(knownAs).legacyUntil > clock.now() },
  );
  try {
    await list(signal);
    signal.throwIfAborted();
    if (!connection.isOpen) throw new McpError("lost", "it ended at once");
  } catch (cause) {
    await connection.close();
    throw cause;
  }
  refresh.begin();
  return { connection, calls };
}
