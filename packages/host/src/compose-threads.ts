import { basename } from "node:path";
import type { RateLimits } from "./account/rate-limits.ts";
import type { UsageLedger } from "./account/usage/usage-ledger.ts";
import { composeChildren } from "./compose-children.ts";
import { composeObservers } from "./compose-observers.ts";
import type { Config } from "./config/config.ts";
import type { ThreadState } from "./core/state.ts";
import type { Hooks } from "./hooks/thread-hooks.ts";
import type { UserNotifier } from "./hooks/user-notifier.ts";
import { broadcastTo } from "./host.ts";
import type { ModelProvider } from "./model/model.ts";
import type { Log } from "./observe/log.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { Supervisor } from "./observe/supervise.ts";
import { Slices } from "./platform/event-loop-slices.ts";
import type { Platform } from "./platform/platform.ts";
import type { VisibleFiles } from "./sandbox/visible-files.ts";
import type { Connection } from "./server/connection.ts";
import type { ReachLookup } from "./server/owner-access.ts";
import type { ThreadConfigs } from "./server/thread-configs.ts";
import type { Store } from "./store/store.ts";
import { ClientAnswerRouting } from "./thread/client-answer-routing.ts";
import type { HelperThreadAccess } from "./thread/helper-thread-access.ts";
import { Idle } from "./thread/idle-unload.ts";
import { withInheritedGrants } from "./thread/inherited-grants.ts";
import { RawResponseItems } from "./thread/raw-response-items.ts";
import { Registry, type RegistryPorts } from "./thread/registry.ts";
import type { Secrets } from "./thread/request-secrets.ts";
import { commandShell } from "./tool/consent/shell-syntax.ts";
import type { LazyMcp } from "./tool/mcp/lazy-mcp-servers.ts";
import type { Toolbox } from "./tool/toolbox.ts";
import { ActiveRunners } from "./turn/active-runners.ts";
import type { ModelHistories } from "./turn/context/model-history.ts";
import type { ModelFallbackWarnings } from "./turn/model-fallback-warnings.ts";
import type { ObservingHooks } from "./turn/observing-hooks.ts";
import type { RunnerPorts } from "./turn/runner.ts";
import type { WorkspaceChanges } from "./workspace/lazy-turn-files.ts";

interface ThreadParts {
  readonly platform: Platform;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly supervisor: Supervisor;
  readonly connections: Iterable<Connection>;
  /** Keeps clients with many requests from delaying others. */
  readonly requests: Slices<Connection>;
  readonly store: Store;
  /** Creates the journals of ephemeral threads. */
  readonly memory: RegistryPorts["memory"];
  readonly secrets: Secrets;
  /** The configuration at the start, for the parts that do not change. */
  readonly config: Config;
  readonly configs: ThreadConfigs;
  readonly usage: UsageLedger;
  readonly rateLimits: RateLimits;
  provider(id: string): ModelProvider;
  readonly modelHistories: ModelHistories;
  readonly warnings: ModelFallbackWarnings;
  readonly toolbox: Toolbox;
  readonly mcp: LazyMcp;
  readonly turnFiles: WorkspaceChanges;
  readonly hooks: Hooks;
  readonly observing: ObservingHooks;
  readonly notifier: UserNotifier;
  readonly reachLookup: ReachLookup;
  /** The files that a thread's model may see. */
  visibleTo(thread: ThreadState): VisibleFiles;
}

/** The loaded threads, and what drives them. */
export interface ComposedThreads {
  readonly registry: Registry;
  readonly idle: Idle;
  readonly rawItems: RawResponseItems;
  readonly questions: ClientAnswerRouting;
  readonly helperThreads: HelperThreadAccess;
  readonly runnerPorts: RunnerPorts;
}

/** Creates the registry of threads, the runners of their effects, and the parts that unload idle threads. */
export function composeThreads(parts: ThreadParts): ComposedThreads {
  const { platform, log, metrics, supervisor, connections, store, secrets, config, configs } = parts;
  const { modelHistories, toolbox, hooks, observing, notifier, reachLookup } = parts;
  const questions = new ClientAnswerRouting(platform.clock);
  const rawItems = new RawResponseItems(platform.clock);
  const idle: Idle = new Idle({
    clock: platform.clock,
    timers: platform.timers,
    requestDeadlineMs: config.serverRequestDeadlineSecs * 1000,
    unload: (actor) => supervisor.take("unloading", registry.unload(actor, "unsubscribed")),
    presenceChanged: (actor) => runners.presenceChanged(actor),
    left: (actor) => questions.left(actor),
    followed: (actor) => parts.mcp.followed(actor.id),
    parentOf: ({ parentId }) => (parentId === null ? undefined : registry.get(parentId)),
    childrenOf: (actor) => registry.childrenOf(actor),
  });
  const runnerPorts: RunnerPorts = {
    hooks,
    platform,
    work: new Slices(platform, parts.requests),
    supervisor,
    modelHistories,
    toolbox,
    modelsOf: (threadId) => configs.of(threadId),
    shell: basename(commandShell(platform.env["SHELL"])),
    provider: parts.provider,
    filesOf: (owner) => reachLookup.of(owner).files,
    child: (parent, state, child, signal) => children.perform(parent, state, child, signal),
    helper: (parent, effect, signal) => helpers.perform(parent, effect, signal),
    inherited: (thread) => withInheritedGrants(registry, thread),
    limits: (snapshot) => parts.rateLimits.note(snapshot),
    warnings: parts.warnings,
    turnFiles: parts.turnFiles,
  };
  const runners = new ActiveRunners(runnerPorts, (actor) => idle.presenceOf(actor));
  const registry: Registry = new Registry({
    platform,
    commits: new Slices(platform),
    supervisor,
    journal: store.journal,
    claims: store.claims,
    memory: parts.memory,
    maxResident: config.maxResidentThreads,
    secrets,
    journalSync: config.journalSync,
    broadcast: (thread, method, frame) => broadcastTo(connections, thread, method, frame),
    observers: composeObservers({
      configs,
      modelHistories,
      toolbox,
      runners,
      metrics,
      usage: parts.usage,
      secrets,
      supervisor,
      hooks,
      observing,
      notifier,
      rawItems,
      questions,
      idle,
      log,
      children: () => children,
      helpers: () => helpers,
    }),
    driver: runners,
    visited: (actor) => idle.consider(actor),
    mustNotify: (state) => toolbox.mustNotify(state),
    leaving: async (actor, ending) => {
      await helpers.leaving(actor);
      await observing.leaving(actor, ending);
      // When the host shuts down, the processes of all threads are ended together, so nothing is awaited here.
      if (!ending) await toolbox.leave(actor.id);
    },
    adopted: (actor) => {
      idle.adopted(actor, (config.threadUnloadDelaySecs ?? 0) * 1000);
      idle.observeFromAbove(actor);
    },
    recovering: (threadId) => store.catchUp(threadId),
    listed: () => store.index.known(),
  });
  const { children, helpers, helperThreads } = composeChildren({
    platform,
    supervisor,
    registry,
    idle,
    journal: store.journal,
    filesOf: (thread) => parts.visibleTo(thread).files,
  });
  return { registry, idle, rawItems, questions, helperThreads, runnerPorts };
}
