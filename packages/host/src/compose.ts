import { basename, join } from "node:path";
import { RateLimits } from "./account/rate-limits.ts";
import { ConfigLayers } from "./catalog/config-layers.ts";
import { composeExec, submitTo } from "./compose-exec.ts";
import { composeRap, endChild, forgetSecrets, warn } from "./compose-rap.ts";
import type { Config } from "./config/config.ts";
import type { Commit } from "./core/records.ts";
import type { ThreadState } from "./core/state.ts";
import { fault } from "./errors.ts";
import { broadcastTo, Host } from "./host.ts";
import { fileJournal } from "./journal/file.ts";
import { catchUpIndex, journalRows } from "./journal/index/journal-rows.ts";
import { droppedTurns, isIndexed, rowOf, textsOf } from "./journal/index/row.ts";
import { openThreadIndex } from "./journal/index/sqlite-index.ts";
import type { ThreadIndex } from "./journal/index/thread-index.ts";
import type { Journal } from "./journal/journal.ts";
import { MemoryJournal } from "./journal/memory.ts";
import { openSections } from "./journal/sections.ts";
import type { ModelProvider } from "./model/model.ts";
import { buildProviders, ModelProviders } from "./model/providers.ts";
import type { Log } from "./observe/log.ts";
import { Metrics } from "./observe/metrics.ts";
import { Supervisor } from "./observe/supervise.ts";
import { watchedTimers } from "./observe/watched-timers.ts";
import type { Platform } from "./platform/platform.ts";
import { Slices } from "./platform/slices.ts";
import { ProcessManager } from "./process/process-manager.ts";
import { ProcessMarks } from "./process/process-marks.ts";
import { lateSandbox } from "./sandbox/late-sandbox.ts";
import { type VisibleFiles, visibleFiles } from "./sandbox/visible-files.ts";
import { ClientProcesses } from "./server/client-processes.ts";
import type { Connection } from "./server/connection.ts";
import type { HandlerContext } from "./server/handlers/context.ts";
import { greeted } from "./server/handlers/initialize.ts";
import { handlerTable } from "./server/handlers/table.ts";
import { Queues } from "./server/queues.ts";
import { ReachLookup, SUBJECT } from "./server/reach.ts";
import { Children } from "./thread/children.ts";
import { Idle } from "./thread/idle.ts";
import { KeyedStarts } from "./thread/keyed-starts.ts";
import { Questions } from "./thread/questions.ts";
import { Registry } from "./thread/registry.ts";
import { Secrets } from "./thread/secrets.ts";
import { threadGauges, turnCounter } from "./thread/thread-metrics.ts";
import { dynamicTools } from "./tool/dynamic.ts";
import { ownTools } from "./tool/own-tools.ts";
import { serverLabel } from "./tool/rap/server.ts";
import { permissionTools } from "./tool/request-permissions.ts";
import { RulesStore } from "./tool/rules-store.ts";
import type { ToolSource } from "./tool/tool.ts";
import { Toolbox } from "./tool/toolbox.ts";
import { Pasts } from "./turn/past.ts";
import { Runners } from "./turn/runners.ts";
import { lazyTurnFiles } from "./workspace/lazy-turn-files.ts";

export interface HostOptions {
  readonly home: string;
  readonly cwd: string;
  readonly config: Config;
  /** Why the configuration that people wrote is not the one that is used. */
  readonly wrongConfig?: string | null;
  /** `-c key=value`, for those who ask where a value comes from. */
  readonly overrides?: readonly string[];
  readonly platform: Platform;
  readonly log: Log;
  /** Why a command with network could connect to a listener of this host; null, or missing, if it could not. */
  readonly listenerProblem?: string | null;
  /** Taken in place of the configured ones; for tests. */
  readonly providers?: readonly ModelProvider[];
  /** Tools besides those that are built in; for tests. */
  readonly tools?: ToolSource;
  /** Taken in place of the one in the home; for tests. */
  readonly index?: ThreadIndex;
}

/** The only place where parts are wired. */
export function compose(options: HostOptions): {
  readonly host: Host;
  readonly metrics: Metrics;
  /** What marks the processes that the host has started; undefined while it has started none. */
  processMark(): string | undefined;
} {
  const { log, config, home, cwd } = options;
  /** What clients have changed since counts for what asks for it then; the rest is bound at the start. */
  let current = config;
  let wrong = options.wrongConfig ?? null;
  const metrics = new Metrics();
  const supervisor = new Supervisor(log);
  const platform = { ...options.platform, timers: watchedTimers(options.platform.timers, supervisor) };
  const connections = new Set<Connection>();
  const providers = new ModelProviders(options.providers ?? buildProviders(config.modelProviders, platform));
  const journal: Journal = fileJournal(home, platform, log, () => index.flush());
  const index: ThreadIndex =
    options.index ??
    openThreadIndex({
      path: join(home, "threads.sqlite"),
      ...platform,
      log,
      searcher: platform.worker("search"),
      hasRecordedAll: () => journal.madeAll(),
      rebuild: () => journalRows(journal, log),
    });
  const countTurns = turnCounter(metrics);
  const questions = new Questions(platform.clock);
  const idle: Idle = new Idle({
    clock: platform.clock,
    timers: platform.timers,
    requestDeadlineMs: config.serverRequestDeadlineSecs * 1000,
    unload: (actor) => supervisor.take("unloading", registry.unload(actor, "unsubscribed")),
    expire: (actor, requestId) => questions.expire(actor, requestId),
    left: (actor) => questions.left(actor),
  });
  const sandbox = lateSandbox({
    platform,
    home,
    profiles: () => current.permissionProfiles,
    networkHosts: () => current.networkProxy,
  });
  const pasts = new Pasts();
  const rateLimits = new RateLimits();
  const reachLookup = new ReachLookup({ home, cwd, files: platform.files, config: () => current });
  const visibleTo = ({ facts, settings }: ThreadState): VisibleFiles => {
    const { cwd, sandbox: policy, permissionProfile: profile, roots = [cwd] } = settings;
    // A subject's files are those in its roots already.
    if (facts.owner.startsWith(SUBJECT))
      return {
        files: reachLookup.of(facts.owner).files,
        isVisible: async () => true,
        unwritable: async () => null,
      };
    return visibleFiles(sandbox, platform.files, { policy, profile: profile ?? null, roots, cwd });
  };
  const marks = new ProcessMarks({ home, platform, log });
  const processes = new ProcessManager({ platform, supervisor, marks });
  const rules = new RulesStore(home, { ...platform, projects: () => current.projects });
  const exec = composeExec({
    home,
    platform,
    processes,
    sandbox,
    supervisor,
    rules,
    listenerProblem: options.listenerProblem ?? null,
    config: () => current,
    reachOf: (owner) => reachLookup.of(owner),
    visibleTo,
    warn: (threadId, message) => warn(registry, threadId, message, platform.clock.now()),
    submit: (threadId, command) => submitTo(registry, threadId, command),
  });
  const own = [
    ...ownTools(platform, (owner) => reachLookup.of(owner), config.maxGoalTokenBudget, visibleTo),
    exec,
    permissionTools({
      files: platform.files,
      home,
      mayWiden: ({ facts, turn }) =>
        reachLookup.of(facts.owner).grants("full-access") && turn?.kind !== "review",
    }),
  ];
  const secrets = new Secrets(home, platform.files);
  const rap = composeRap({
    home,
    settings: config.rap,
    platform,
    log,
    metrics,
    supervisor,
    secrets,
    own,
    others: [...own, dynamicTools],
    mayUse: (owner, server) => reachLookup.of(owner).mayUse(server),
    registry: () => registry,
  });
  const toolbox = new Toolbox([
    ...own,
    dynamicTools,
    rap,
    ...(options.tools === undefined ? [] : [options.tools]),
  ]);
  const committed = (commit: Commit, state: ThreadState): void => {
    toolbox.committed(commit, state);
    endChild(registry, commit, state);
    forgetSecrets(secrets, supervisor, commit, state);
  };
  const requests = new Slices<Connection>(platform);
  const turnFiles = lazyTurnFiles({
    platform,
    processes,
    files: platform.files,
    workspace: platform.workspace,
    filesOf: (owner) => reachLookup.of(owner).files,
  });
  const runners = new Runners({
    platform,
    work: new Slices(platform, requests),
    supervisor,
    pasts,
    toolbox,
    get models() {
      return current;
    },
    shell: basename(platform.env["SHELL"] || "sh"),
    provider: (id) => providers.get(id),
    filesOf: (owner) => reachLookup.of(owner).files,
    child: (parent, state, child) => children.perform(parent, state, child),
    limits: (snapshot) => rateLimits.note(snapshot),
    turnFiles,
  });
  const registry: Registry = new Registry({
    platform,
    commits: new Slices(platform),
    supervisor,
    journal,
    memory: { create: async () => new MemoryJournal() },
    maxResident: config.maxResidentThreads,
    secrets,
    journalSync: config.journalSync,
    broadcast: (thread, method, frame) => broadcastTo(connections, thread, method, frame),
    reconcile: (actor, state, commit) => {
      if (commit !== undefined) pasts.add(actor.journal, commit);
      if (commit !== undefined && actor.ephemeral) committed(commit, state);
      runners.reconcile(actor, state);
    },
    committed: (commit, state, { place }) => {
      countTurns(commit, state);
      committed(commit, state);
      if (!isIndexed(state, commit.seq)) return;
      index.record(rowOf(state, commit.seq, place), textsOf(commit), droppedTurns(commit));
    },
    changed: (actor) => {
      questions.changed(actor);
      idle.consider(actor);
    },
    loaded: (state) => toolbox.load(state),
    mustTellClosed: (state) => toolbox.mustHearClosed(state),
    tellClosed: (state) => toolbox.closed(state),
    unloaded: (actor) => {
      toolbox.unload(actor.id);
      questions.gone(actor);
      idle.gone(actor);
    },
    adopted: (actor) => idle.adopted(actor, (config.threadUnloadDelaySecs ?? 0) * 1000),
    recovering: (threadId) => catchUpIndex(index, journal, threadId),
    listed: () => index.known(),
  });
  const children = new Children({
    registry,
    idle,
    clock: platform.clock,
    unlist: (threadId) => index.forget(threadId),
    sync: (threadId) => journal.sync(threadId),
  });
  const clientProcesses = new ClientProcesses(processes, platform.timers, (handle) =>
    fault("processHandleTaken", handle),
  );
  const clientCommands = new ClientProcesses(processes, platform.timers, (id) => fault("processIdTaken", id));
  const layers = new ConfigLayers(platform.files, home, options.overrides ?? []);
  const context: HandlerContext = {
    home,
    get config() {
      return current;
    },
    get wrongConfig() {
      return wrong;
    },
    configure: (next) => {
      current = next;
      wrong = null;
      if (options.providers === undefined) providers.replace(buildProviders(next.modelProviders, platform));
    },
    platform,
    registry,
    rap,
    rules,
    exec,
    clientProcesses,
    turnFiles,
    clientCommands,
    sandbox,
    supervisor,
    reachLookup,
    keyedStarts: new KeyedStarts(registry, journal),
    idle,
    index,
    providers,
    rateLimits,
    metrics,
    sections: openSections({ path: join(home, "thread_sections.json"), ...platform, log }),
    reindex: ({ state, seq }, place) => index.record(rowOf(state, seq, place), []),
  };
  const countRequest = metrics.counter("bobbin_requests_total", "Requests answered, by method and outcome.");
  metrics.gauge("bobbin_connections", "Clients connected.", () => connections.size);
  threadGauges(metrics, registry, idle, (name) => serverLabel(config.rap, name));
  const host = new Host(
    {
      handlers: handlerTable(context, layers),
      reachLookup,
      queues: new Queues(),
      ids: platform.ids,
      log,
      greeted: (connection) => greeted(context, connection),
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
      left: (connection) => supervisor.take("ending a client's processes", processes.end(connection)),
      endClientProcesses: async () => {
        await Promise.all([clientProcesses.close(), clientCommands.close()]);
      },
      leave: () => journal.leave(),
      stopListening: () => toolbox.stop(),
      close: async () => {
        await processes.close();
        await sandbox.close();
        await toolbox.close();
        await index.close();
        await journal.close();
      },
    },
    connections,
  );
  return { host, metrics, processMark: () => (marks.isUsed ? marks.host : undefined) };
}
