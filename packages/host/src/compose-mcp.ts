import type { Config } from "./config/config.ts";
import { isTable, type LayeredConfig } from "./config/layered-config.ts";
import { allowedServers } from "./config/mcp-requirements.ts";
import { type McpLayer, mergeMcpServers } from "./config/mcp-servers.ts";
import type { Table } from "./config/table-reader.ts";
import type { CredentialStore } from "./credentials/credential-store.ts";
import type { Seals } from "./credentials/journal-secret-sealing.ts";
import { messageOf } from "./errors.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import type { ProcessManager } from "./process/process-manager.ts";
import { type Reach, SUBJECT } from "./server/owner-access.ts";
import { notificationFrame } from "./thread/notification-frame.ts";
import type { Registry } from "./thread/registry.ts";
import { trustIn } from "./tool/consent/project-trust-lookup.ts";
import { LazyMcp } from "./tool/mcp/lazy-mcp-servers.ts";
import type { McpScope } from "./tool/mcp/lookup-scope.ts";
import type { McpAuth } from "./tool/mcp/mcp-interface.ts";
import type { ConfiguredServers } from "./tool/mcp/mcp-servers.ts";
import { LazyOAuth } from "./tool/mcp/oauth/lazy-oauth.ts";
import { type OpenedServers, openedServers } from "./tool/mcp/server-secret-sealing.ts";

interface McpParts {
  readonly home: string;
  readonly platform: Platform;
  readonly processes: ProcessManager;
  readonly supervisor: Supervisor;
  readonly auth: McpAuth;
  readonly seals: Seals;
  readonly layers: LayeredConfig;
  /** The current configuration. */
  config(): Config;
  reachOf(owner: string): Reach;
  warn(threadId: string, message: string): boolean;
  /** A function, because the registry is created later. */
  registry(): Registry;
}

/** Creates the MCP servers of the host. Their code is loaded when a thread may have one. */
export function composeMcp(parts: McpParts): LazyMcp {
  const { platform, processes, supervisor, auth, home } = parts;
  const configured = (view: McpScope): Promise<ConfiguredServers> => configuredServers(parts, view);
  const mcp = new LazyMcp({
    supervisor,
    timers: platform.timers,
    configured,
    mayHave: ({ load }) => {
      const { table } = parts.config().mcp;
      return hasAny(table) || hasAny(load.mcpServers ?? {}) || parts.config().projects.size > 0;
    },
    make: async () => {
      const { Mcp } = await import("./tool/mcp/mcp-servers.ts");
      return new Mcp({
        home,
        platform,
        processes,
        supervisor,
        auth,
        configured,
        sendStatus: (threadId, status) => mcp.send(threadId, status),
        warn: (threadId, message) => mcp.warn(threadId, message),
      });
    },
    send(threadId, status) {
      const actor = parts.registry().get(threadId);
      if (actor === undefined || actor.subscriptions.size === 0) return false;
      const method = "mcpServer/startupStatus/updated";
      actor.subscriptions.tell(method, notificationFrame(method, status, platform.clock.now()));
      return true;
    },
    warn: parts.warn,
  });
  return mcp;
}

/** Creates the logins to MCP servers. Their code is loaded when it is first used. */
export function composeMcpOAuth(store: CredentialStore, platform: Platform): LazyOAuth {
  return new LazyOAuth(async () => {
    const { McpOAuth } = await import("./tool/mcp/oauth/mcp-oauth.ts");
    return new McpOAuth({ platform, store });
  });
}

function hasAny(table: Table): boolean {
  return Object.keys(table).length > 0;
}

/**
 * The MCP servers of a thread. Later sources override earlier ones: config.toml, the trusted project, the thread
 * itself. A subject has the servers of config.toml that `[subjects]` names, and its own servers if `[subjects]`
 * allows them.
 */
async function configuredServers(parts: McpParts, view: McpScope): Promise<ConfiguredServers> {
  const { owner, cwd } = view;
  const { platform } = parts;
  const isSubject = owner.startsWith(SUBJECT);
  const { projects } = parts.config();
  const trust = isSubject ? null : await trustIn(platform.files, cwd, projects);
  const project = trust === "trusted" ? await projectLayers(parts, cwd) : { layers: [], problems: [] };
  const reach = parts.reachOf(owner);
  const ownServers = !isSubject || reach.grants("mcp-servers") ? view.own : disablingEntries(view.own);
  const { servers: own, problems: unopened } = await opened(parts, ownServers);
  const isPlain = !isSubject && project.layers.length === 0 && !hasAny(own);
  const merged = (
    config: Config,
  ): Pick<ConfiguredServers, "problems"> & { servers: Config["mcp"]["servers"] } => {
    // Most threads have only the servers of config.toml.
    if (isPlain) return { servers: config.mcp.servers, problems: [] };
    const table = isSubject ? reachedServers(config, reach) : config.mcp.table;
    const layers: McpLayer[] = [
      { table, origin: "host" },
      ...project.layers,
      { table: own, origin: "thread" },
    ];
    const { servers, problems } = allowedServers(config.requirements.mcpServers, mergeMcpServers(layers));
    // Problems of config.toml itself were reported at the start.
    return { servers, problems: problems.filter((one) => !config.mcp.problems.includes(one)) };
  };
  let last = parts.config();
  let now = merged(last);
  return {
    trust,
    // A thread without file access has no folder, but a process needs one.
    place: reach.hasFiles ? { cwd, roots: view.roots } : { cwd: "/", roots: [] },
    problems: [...project.problems, ...unopened, ...now.problems],
    servers() {
      const config = parts.config();
      if (config.mcp !== last.mcp || config.subjects !== last.subjects) now = merged(config);
      last = config;
      return now.servers;
    },
  };
}

/** Decrypts the thread's own servers. Reads no key if the thread has no servers of its own. */
async function opened({ seals, supervisor }: McpParts, own: Table): Promise<OpenedServers> {
  if (!hasAny(own)) return { servers: own, problems: [] };
  // If the key cannot be read, servers with secrets are omitted.
  await seals.ready().catch((cause: unknown) => supervisor.report("reading the key of seals", cause));
  return openedServers(own, seals);
}

/** For a subject that may not have its own servers: only its entries that disable a server. */
function disablingEntries(own: Table): Table {
  return Object.fromEntries(Object.entries(own).filter(([, server]) => server === false || server === null));
}

function reachedServers({ mcp }: Config, reach: Reach): Table {
  return Object.fromEntries(Object.entries(mcp.table).filter(([name]) => reach.mayUseMcp(name)));
}

/** `[mcp_servers]` of the project's config files that are trusted in their current version, from its root down. */
async function projectLayers(
  { layers }: McpParts,
  cwd: string,
): Promise<{ readonly layers: readonly McpLayer[]; readonly problems: readonly string[] }> {
  try {
    const read = await layers.read(cwd);
    const trusted = read.filter(
      ({ name, disabledReason }) => name.type === "project" && disabledReason === null,
    );
    const tables = trusted.map(({ config }) => config["mcp_servers"]).filter(isTable);
    return { layers: tables.reverse().map((table) => ({ table, origin: "project" })), problems: [] };
  } catch (cause) {
    return { layers: [], problems: [messageOf(cause)] };
  }
}
