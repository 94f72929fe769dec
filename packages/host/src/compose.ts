import type { HostOfHome } from "@bobbin/protocol";
import { RateLimits } from "./account/rate-limits.ts";
import type { UsageStore } from "./account/usage/usage-store.ts";
import { composeAccounts, composeUsage } from "./compose-account.ts";
import { composeClientWork } from "./compose-client-work.ts";
import { type ConfigOptions, composeConfig } from "./compose-config.ts";
import { composeFeedback } from "./compose-feedback.ts";
import { composeHooks } from "./compose-hooks.ts";
import { composeImports } from "./compose-import.ts";
import { type ComposedThreads, composeThreads } from "./compose-threads.ts";
import { composeTools } from "./compose-tools.ts";
import type { Config } from "./config/config.ts";
import type { SwitchName } from "./config/features.ts";
import { KeyWarningCheck } from "./config/key-warning-check.ts";
import { allowedProfiles } from "./config/requirements.ts";
import type { ThreadState } from "./core/state.ts";
import { seconds } from "./core/whole-seconds.ts";
import { ThreadQueries } from "./history/thread-queries.ts";
import { Host, notifyOwner } from "./host.ts";
import type { ModelProvider } from "./model/model.ts";
import { buildProviders, ProviderRegistry } from "./model/providers.ts";
import { watchedTimers } from "./observe/error-logging-timers.ts";
import type { Log } from "./observe/log.ts";
import { Metrics } from "./observe/metrics.ts";
import { RecentLog } from "./observe/recent-log.ts";
import { Supervisor } from "./observe/supervise.ts";
import { Slices } from "./platform/event-loop-slices.ts";
import type { Platform } from "./platform/platform.ts";
import { ProcessManager } from "./process/process-manager.ts";
import { ProcessMarks } from "./process/process-marks.ts";
import { lazySandbox } from "./sandbox/lazy-sandbox.ts";
import { type VisibleFiles, visibleFiles } from "./sandbox/visible-files.ts";
import type { Connection } from "./server/connection.ts";
import type { HandlerContext } from "./server/handler-context.ts";
import { handlerTable } from "./server/handler-table.ts";
import { afterInitialize } from "./server/handlers/initialize.ts";
import { ReachLookup, SUBJECT } from "./server/owner-access.ts";
import { RequestQueues } from "./server/request-queues.ts";
import { fileStore } from "./store/files/file-store.ts";
import { MemoryJournal } from "./store/memory/in-memory-journal.ts";
import type { Store } from "./store/store.ts";
import type { ThreadIndex } from "./store/thread-index.ts";
import { IdempotentStarts } from "./thread/idempotent-starts.ts";
import { Secrets } from "./thread/request-secrets.ts";
import { ThreadArchive } from "./thread/thread-archive.ts";
import { threadGauges } from "./thread/thread-metrics.ts";
import { openSections } from "./thread/thread-sections.ts";
import type { McpServers } from "./tool/mcp/mcp-interface.ts";
import { sealedServers } from "./tool/mcp/server-secret-sealing.ts";
import { sealedHeaders } from "./tool/rap/header-sealing.ts";
import { serverLabel } from "./tool/rap/server-address.ts";
import type { ToolSource } from "./tool/tool.ts";
import { baseInstructions } from "./turn/context/instructions.ts";
import { ModelHistories } from "./turn/context/model-history.ts";
import { ModelFallbackWarnings } from "./turn/model-fallback-warnings.ts";
import { confinedGit } from "./workspace/confine-git.ts";
import { lazyTurnFiles } from "./workspace/lazy-turn-files.ts";

export interface HostOptions extends ConfigOptions {
  readonly cwd: string;
  readonly platform: Platform;
  readonly log: Log;
  /**
   * How a model's command with network access could connect to a listener of this host; null or missing if it cannot.
   */
  readonly listenerProblem?: string | null;
  /** Asks the hosts that listen on a socket of the home. Missing if this host does not look for others. */
  readonly listeningHosts?: () => Promise<readonly HostOfHome[]>;
  /** For tests: used instead of the configured ones. */
  readonly providers?: readonly ModelProvider[];
  /** For tests: additional tools. */
  readonly tools?: ToolSource;
  /** For tests: used instead of the configured ones. */
  readonly mcpServers?: McpServers;
  /** For tests: used instead of the one in the home. */
  readonly index?: ThreadIndex;
  /** For tests: used instead of the home, for everything that the store has. */
  readonly store?: Store;
  /** For tests: used instead of the one in the home. */
  readonly usage?: UsageStore;
}

/** Creates a host with all its parts. This and the other compose files are the only place where parts are connected. */
export function compose(options: HostOptions): {
  readonly host: Host;
  readonly metrics: Metrics;
  /** The environment mark of processes that the host has started; undefined while it has started none. */
  processMark(): string | undefined;
  /** Logs the unknown keys of the configuration. */
  warnOfKeys(): void;
} {
  const { config, home, cwd } = options;
  const log = RecentLog.over(options.log, () => options.platform.clock.now());
  const metrics = new Metrics();
  const supervisor = new Supervisor(log);
  const platform = { ...options.platform, timers: watchedTimers(options.platform.timers, supervisor) };
  const connections = new Set<Connection>();
  const store = options.store ?? fileStore({ home, platform, log, index: options.index });
  const { journal, claims, index, documents } = store;
  const { credentials, threadlessRequests, accounts, accountNews } = composeAccounts({
    home,
    platform,
    texts: store.credentials,
    log,
    supervisor,
    connections,
    isUsed: options.providers === undefined,
    settings: () => configs.current,
  });
  const { seals } = credentials;
  const providersOf = ({ modelProviders }: Config): readonly ModelProvider[] =>
    options.providers ?? buildProviders(modelProviders, platform, accounts);
  /**
   * `configs.current` changes at run time. `config` is the configuration at the start, for the parts that do not
   * change.
   */
  const { layers, configs } = composeConfig(options, {
    platform,
    connections,
    changed: (next) => providers.replace(providersOf(next)),
  });
  const providers = new ProviderRegistry(providersOf(config));
  const sandbox = lazySandbox({
    platform,
    home,
    profiles: () => allowedProfiles(configs.current),
    networkHosts: () => configs.current.networkProxy,
  });
  const modelHistories = new ModelHistories();
  const rateLimits = new RateLimits();
  const { usage, limited } = composeUsage({
    home,
    platform,
    supervisor,
    connections,
    store: options.usage,
    settings: () => configs.current.usage,
  });
  const reachLookup = new ReachLookup({ home, cwd, files: platform.files, config: () => configs.current });
  const visibleTo = ({ facts, settings }: ThreadState): VisibleFiles => {
    const { cwd, sandbox: policy, permissionProfile: profile, roots = [cwd] } = settings;
    // The files of a subject are already limited to its roots.
    if (facts.owner.startsWith(SUBJECT))
      return {
        files: reachLookup.of(facts.owner).files,
        isVisible: async () => true,
        unwritable: async () => null,
        guarded: async () => [],
      };
    return visibleFiles(sandbox, platform.files, { policy, profile: profile ?? null, roots, cwd });
  };
  const marks = new ProcessMarks({ home, platform, log });
  const processes = new ProcessManager({ platform, supervisor, marks });
  const isOn = (feature: SwitchName, threadId: string): boolean => configs.isEnabled(feature, threadId);
  const secrets = new Secrets(store.secrets);
  const { rules, exec, rap, mcp, mcpOAuth, mcpTools, toolbox } = composeTools({
    home,
    platform,
    log,
    metrics,
    supervisor,
    store,
    credentials,
    secrets,
    layers,
    config,
    configs,
    isOn,
    processes,
    sandbox,
    reachLookup,
    visibleTo,
    listenerProblem: options.listenerProblem ?? null,
    mcpServers: options.mcpServers,
    tools: options.tools,
    registry: () => registry,
    helperThreads: () => helperThreads,
    runner: () => runnerPorts,
  });
  const keyWarnings = new KeyWarningCheck(layers, options.overrides ?? []);
  const requests = new Slices<Connection>(platform);
  const turnFiles = lazyTurnFiles({
    platform,
    processes,
    files: platform.files,
    workspace: platform.workspace,
    home,
    filesOf: (owner) => reachLookup.of(owner).files,
    confineGit: confinedGit(sandbox, async (owner) => (await reachLookup.of(owner).places())?.roots ?? null),
  });
  const warnings = new ModelFallbackWarnings(() => configs.current.contextWindow);
  const { hooks, observing, notifier } = composeHooks({
    home,
    cwd,
    platform,
    supervisor,
    exec,
    processes,
    log,
    modelHistories,
    layers,
    config: () => configs.current,
    isOn: (threadId) => isOn("hooks", threadId),
    actorOf: (threadId) => registry.get(threadId),
  });
  const { registry, idle, rawItems, questions, helperThreads, runnerPorts }: ComposedThreads = composeThreads(
    {
      platform,
      log,
      metrics,
      supervisor,
      connections,
      requests,
      store,
      memory: { create: async () => new MemoryJournal() },
      secrets,
      config,
      configs,
      usage,
      rateLimits,
      provider: (id) => limited(providers.get(id)),
      modelHistories,
      warnings,
      toolbox,
      mcp,
      turnFiles,
      hooks,
      observing,
      notifier,
      reachLookup,
      visibleTo,
    },
  );
  const clients = composeClientWork({ platform, processes, supervisor, log });
  const imports = composeImports({
    home,
    platform,
    log,
    layers,
    journal,
    documents,
    supervisor,
    configure: (next) => configs.configure(next),
  });
  const lists = new ThreadQueries(index, () => registry.indexed);
  const idempotentStarts = new IdempotentStarts(registry, store.startKeys);
  const context: HandlerContext = {
    home,
    get config() {
      return configs.current;
    },
    get wrongConfig() {
      return configs.wrong;
    },
    configs,
    keyWarnings,
    strictConfig: options.strictConfig ?? false,
    configure: (next) => configs.configure(next),
    platform,
    startedAt: seconds(platform.clock.now()),
    listeningHosts: options.listeningHosts ?? (async () => []),
    registry,
    rap,
    mcp,
    mcpTools,
    mcpOAuth,
    notify: (owner, method, params) => notifyOwner(connections, owner, method, params),
    rules,
    hooks,
    exec,
    turnFiles,
    ...clients.work,
    sandbox,
    supervisor,
    reachLookup,
    idempotentStarts,
    idle,
    rawItems,
    lists,
    archive: new ThreadArchive({ registry, index, lists, idempotentStarts }),
    providers,
    sealed: async (load) => sealedServers(await sealedHeaders(load, seals), seals),
    accounts,
    credentialStorage: async () => {
      const { credentialLocation } = await import("./credentials/credential-location.ts");
      const { account } = configs.current.credentials;
      return (await credentialLocation(home, account, credentials.keys)).store;
    },
    accountNews,
    rateLimits,
    usage,
    ...composeFeedback({
      home,
      hostId: () => registry.hostId,
      platform,
      log,
      metrics,
      layers,
      accounts,
      mcpOAuth,
      config: () => configs.current,
    }),
    imports: () => imports.load(),
    instructionsOf: baseInstructions,
    warnings,
    metrics,
    sections: openSections({ documents, ...platform, log }),
  };
  const countRequest = metrics.counter("bobbin_requests_total", "Requests answered, by method and outcome.");
  metrics.gauge("bobbin_connections", "Clients connected.", () => connections.size);
  threadGauges(metrics, registry, idle, (name) => serverLabel(config.rap, name));
  const host = new Host(
    {
      handlers: handlerTable(context, layers),
      reachLookup,
      queues: new RequestQueues(),
      ids: platform.ids,
      log,
      afterInitialize: (connection) => afterInitialize(context, connection),
      count: (method, outcome) => countRequest({ method, outcome }),
      platform,
      requests,
      registry,
      idle,
      questions,
      supervisor,
      unloadDelayMs:
        config.threadUnloadDelaySecs === undefined ? undefined : config.threadUnloadDelaySecs * 1000,
      listen: () => {
        toolbox.start();
        supervisor.take("ending processes of hosts that are gone", marks.sweepAbandoned());
        supervisor.take("removing what confined commands of hosts left that are gone", sandbox.sweep());
      },
      answered: (connection, id, answer) => threadlessRequests.answer(connection, id, answer),
      left: (connection) => {
        threadlessRequests.left(connection);
        mcpTools.left(connection);
        clients.left(connection);
      },
      endClientWork: async () => {
        accountNews.close();
        await Promise.all([clients.close(), imports.close()]);
      },
      leave: () => claims.leave(),
      stopListening: async () => {
        await Promise.all([toolbox.stop(), mcpOAuth.close(), accounts.close(), notifier.close()]);
      },
      close: async () => {
        await processes.close();
        await sandbox.close();
        await toolbox.close();
        await usage.close();
        await store.close();
      },
    },
    connections,
  );
  const warnOfKeys = async (): Promise<void> => {
    for (const { message } of await keyWarnings.read()) log.warn(message);
  };
  return {
    host,
    metrics,
    processMark: () => (marks.isUsed ? marks.host : undefined),
    warnOfKeys: () => supervisor.take("looking at keys", warnOfKeys()),
  };
}
