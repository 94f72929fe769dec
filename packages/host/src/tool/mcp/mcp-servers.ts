import { join } from "node:path";
import type { McpServerStatus, NotificationParams } from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import { type McpScope, scopeOf } from "./lookup-scope.ts";
import type { McpResourceContents, McpServers, ThreadServer } from "./mcp-interface.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import type { LeaseHolder, PooledServerPorts } from "./pooled-server.ts";
import { ServerFactsCache } from "./server-facts-cache.ts";
import { knownKey, McpPool, type PoolPlace } from "./server-pool.ts";
import { disabledStatus, serverStatus } from "./server-status.ts";
import { ThreadLease } from "./thread-lease.ts";

/** The configured servers of a scope. */
export interface ConfiguredServers {
  /** The servers of the current configuration. Returns the same array until the configuration changes. */
  servers(): readonly McpServerSettings[];
  /** Problems of the configuration, for users. */
  readonly problems: readonly string[];
  readonly trust: string | null;
  /** The working folder of servers that configure none, and the roots that servers may list. */
  readonly place: { readonly cwd: string; readonly roots: readonly string[] };
}

export interface McpPorts extends Omit<PooledServerPorts, "ended" | "known" | "lingerMs"> {
  readonly platform: PooledServerPorts["platform"] & KnownFiles;
  readonly home: string;
  configured(scope: McpScope): Promise<ConfiguredServers>;
  /** Sends a server's status to a thread's subscribers. */
  sendStatus(threadId: string, status: NotificationParams<"mcpServer/startupStatus/updated">): void;
  warn(threadId: string, message: string): void;
}

type KnownFiles = {
  readonly files: ConstructorParameters<typeof ServerFactsCache>[0]["files"];
  readonly env: PoolPlace["env"];
};

/** The leases of one loaded thread. */
interface ThreadLeases {
  /** The scope that the leases were taken for. */
  readonly scope: McpScope;
  /** Pending while the thread's servers are being looked up. */
  resolving: Promise<void> | undefined;
  leases: readonly ThreadLease[];
}

const NONE: readonly ThreadServer[] = [];

/** The MCP servers of all threads: takes and releases their leases of pooled servers. */
export class Mcp implements McpServers {
  readonly #ports: McpPorts;
  readonly #cache: ServerFactsCache;
  readonly pool: McpPool;
  readonly #threads = new Map<string, ThreadLeases>();

  constructor(ports: McpPorts) {
    this.#ports = ports;
    const { files, clock } = ports.platform;
    const { supervisor, home } = ports;
    this.#cache = new ServerFactsCache({ files, clock, supervisor, folder: join(home, "mcp_known") });
    this.pool = new McpPool({ ...ports, known: this.#cache });
  }

  /** Takes the leases of a thread. Takes them again if the thread's folder or roots have changed. */
  load(thread: ThreadState): void {
    const scope = scopeOf(thread);
    const before = this.#threads.get(thread.facts.id);
    if (before === undefined || JSON.stringify(before.scope) !== JSON.stringify(scope))
      this.#bind(thread.facts.id, scope, before);
  }

  /** Replaces the leases of all threads according to the current configuration. */
  reload(): void {
    for (const [threadId, before] of [...this.#threads]) this.#bind(threadId, before.scope, before);
  }

  #bind(threadId: string, scope: McpScope, before: ThreadLeases | undefined): void {
    const loaded: ThreadLeases = { scope, resolving: undefined, leases: before?.leases ?? [] };
    loaded.resolving = this.#resolve(threadId, loaded, before?.resolving).finally(() => {
      loaded.resolving = undefined;
    });
    this.#threads.set(threadId, loaded);
    this.#ports.supervisor.take("finding the MCP servers of a thread", loaded.resolving);
  }

  unload(threadId: string): void {
    const loaded = this.#threads.get(threadId);
    this.#threads.delete(threadId);
    for (const lease of loaded?.leases ?? []) lease.release();
  }

  of({ facts }: ThreadState): readonly ThreadServer[] {
    return this.#threads.get(facts.id)?.leases ?? NONE;
  }

  leases(threadId: string): readonly ThreadLease[] {
    return this.#threads.get(threadId)?.leases ?? [];
  }

  required({ facts }: ThreadState): Promise<void> | undefined {
    const loaded = this.#threads.get(facts.id);
    if (loaded === undefined) return undefined;
    for (const { server } of loaded.leases) server.retryIfLoggedIn();
    const wait = async (): Promise<void> => {
      await loaded.resolving;
      const required = loaded.leases.filter(({ settings }) => settings.required);
      await Promise.all(required.map((lease) => lease.required()));
    };
    const isReady = loaded.leases.every(
      ({ settings, server }) => !settings.required || server.state === "connected",
    );
    return loaded.resolving === undefined && isReady ? undefined : wait();
  }

  async close(): Promise<void> {
    await this.pool.close();
    await this.#cache.written();
  }

  async #resolve(threadId: string, loaded: ThreadLeases, before: Promise<void> | undefined): Promise<void> {
    await before;
    const { configured, place, enabled } = await this.#lookUp(loaded.scope);
    // In between, the thread may have been unloaded, or its leases taken again.
    if (this.#threads.get(threadId) !== loaded) return;
    for (const problem of configured.problems)
      this.#ports.warn(threadId, `An MCP server is left out: ${problem}`);
    const old = loaded.leases;
    loaded.leases = enabled.map((settings) => {
      const { name } = settings;
      const lease = new ThreadLease(settings, place, {
        pool: this.pool,
        settings: () => configured.servers().find((one) => one.name === name),
        sendStatus: (update) => this.#ports.sendStatus(threadId, { threadId, name, ...update }),
      });
      lease.hold(old.find((one) => one.name === name));
      return lease;
    });
    // The old leases are released after the new ones are taken, so that a server in both keeps running.
    for (const lease of old) lease.release();
  }

  async #lookUp(scope: McpScope): Promise<{
    readonly configured: ConfiguredServers;
    readonly place: PoolPlace;
    readonly enabled: readonly McpServerSettings[];
  }> {
    const configured = await this.#ports.configured(scope);
    const enabled = configured.servers().filter((one) => one.enabled);
    await Promise.all(enabled.flatMap((one) => this.#cache.load(knownKey(one, scope.owner)) ?? []));
    const { owner, threadId } = scope;
    const { env } = this.#ports.platform;
    const { trust, place } = configured;
    return { configured, enabled, place: { threadId: threadId ?? "", owner, ...place, env, trust } };
  }

  /** The status of the servers in a scope, sorted by name. */
  async statuses(
    scope: McpScope,
    { serverName, isFull }: { readonly serverName: string | null; readonly isFull: boolean },
  ): Promise<readonly McpServerStatus[]> {
    const { configured, place } = await this.#lookUp(scope);
    const wanted = configured.servers().filter(({ name }) => serverName === null || name === serverName);
    const { platform, auth } = this.#ports;
    return Promise.all(
      wanted.map(async (settings) => {
        if (!settings.enabled) return disabledStatus(settings);
        const leases = scope.threadId === null ? [] : this.leases(scope.threadId);
        const server =
          leases.find(({ name }) => name === settings.name)?.server ?? this.pool.find(settings, place);
        const statusReader: LeaseHolder = { started() {} };
        server.hold(statusReader);
        try {
          return await serverStatus(server, settings, scope, isFull, { ...platform, auth });
        } finally {
          server.release(statusReader);
        }
      }),
    );
  }

  /** Reads a resource of a server; undefined if the scope has no such server. */
  async readResource(
    scope: McpScope,
    server: string,
    uri: string,
    signal: AbortSignal,
    meta?: object,
  ): Promise<McpResourceContents | undefined> {
    const { enabled, place } = await this.#lookUp(scope);
    const settings = enabled.find(({ name }) => name === server);
    if (settings === undefined) return undefined;
    const lease = new ThreadLease(settings, place, {
      pool: this.pool,
      settings: () => settings,
      sendStatus() {},
    });
    lease.hold(undefined);
    try {
      return await lease.readResource(uri, signal, meta);
    } finally {
      lease.release();
    }
  }

  /** Reconnects a server after its owner has logged in or out. */
  authChanged(owner: string, { name, origin }: McpServerSettings): void {
    for (const server of [...this.pool]) {
      const { tokens } = server.spec;
      const isSame = tokens.settings.name === name && tokens.settings.origin === origin;
      // A login to a server of config.toml applies to all owners.
      if (isSame && (origin === "host" || tokens.owner === owner)) server.renew();
    }
  }
}
