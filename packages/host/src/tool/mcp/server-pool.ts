import { digestOf, type McpTarget, type TargetPlace, targetOf } from "./connection-target.ts";
import { McpError } from "./mcp-interface.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import { PooledServer, type PooledServerPorts, type PooledSpec } from "./pooled-server.ts";
import { keepsState } from "./stateful-server-check.ts";

/** The owner and the working folder of a server. */
export interface PoolPlace extends TargetPlace {
  readonly owner: string;
  readonly threadId: string;
  /** The trust decision about the folder. */
  readonly trust: string | null;
}

/** How long a server keeps running without a lease. */
export const LINGER_MS = 5000;
/** How long a server keeps running without calls. Longer if a restart would lose its state. */
const STATEFUL_IDLE_MS = 30 * 60_000;
const IDLE_MS = 5 * 60_000;

/** The pool of MCP servers that threads share. */
export class McpPool {
  readonly #ports: Omit<PooledServerPorts, "ended" | "lingerMs">;
  readonly #servers = new Map<string, PooledServer>();
  /** Servers that are being ended. */
  readonly #ending = new Set<Promise<void>>();
  #isEnding = false;

  constructor(ports: Omit<PooledServerPorts, "ended" | "lingerMs">) {
    this.#ports = ports;
  }

  /**
   * Finds or creates the server. A server is shared if configuration, owner, folder, roots and trust are the same.
   */
  find(settings: McpServerSettings, place: PoolPlace): PooledServer {
    const { owner } = place;
    const target = targetOrError(settings, place);
    const key = this.#key(settings, place, target);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const knownAs = knownKey(settings, owner);
    const idleMs = keepsState(settings) ? STATEFUL_IDLE_MS : IDLE_MS;
    const spec: PooledSpec = { key, target, knownAs, idleMs, tokens: { settings, owner } };
    const server = new PooledServer(spec, {
      ...this.#ports,
      lingerMs: () => (this.#isEnding ? 0 : LINGER_MS),
      ended: (ended) => this.#ended(ended),
    });
    this.#servers.set(key, server);
    return server;
  }

  /** Whether each thread has its own server. */
  isIsolated(settings: McpServerSettings, owner: string): boolean {
    if (keepsState(settings)) return true;
    return settings.isolation === null && this.#ports.known.of(knownKey(settings, owner)).isIsolated;
  }

  #key(
    settings: McpServerSettings,
    { owner, trust, threadId, cwd }: PoolPlace,
    target: McpTarget | McpError,
  ): string {
    return digestOf([
      target instanceof McpError ? [settings.transport, cwd] : target,
      owner,
      trust,
      this.isIsolated(settings, owner) ? threadId : null,
    ]);
  }

  *[Symbol.iterator](): Iterator<PooledServer> {
    yield* this.#servers.values();
  }

  /** Called when the host shuts down: from now on a server ends with its last lease. */
  hurry(): void {
    this.#isEnding = true;
    for (const server of [...this.#servers.values()]) server.hurry();
  }

  async close(): Promise<void> {
    for (const server of [...this.#servers.values()]) void server.close();
    await Promise.all(this.#ending);
  }

  #ended(server: PooledServer): void {
    const { key } = server.spec;
    if (this.#servers.get(key) === server) this.#servers.delete(key);
    const ending = server.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** The key of a server in the cache: its configuration without the values of variables, and its owner. */
export function knownKey({ name, transport }: McpServerSettings, owner: string): string {
  const { kind } = transport;
  const plain =
    kind === "stdio"
      ? [transport.command, transport.args, Object.keys(transport.env), transport.envVars, transport.cwd]
      : [transport.url, Object.keys(transport.headers), transport.envHeaders, transport.bearerTokenEnvVar];
  return digestOf([name, kind, plain, owner]).slice(0, 40);
}

function targetOrError(settings: McpServerSettings, place: PoolPlace): McpTarget | McpError {
  try {
    return targetOf(settings, place);
  } catch (cause) {
    if (cause instanceof McpError) return cause;
    throw cause;
  }
}
