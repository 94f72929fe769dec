import { composeHelperTools } from "./compose-children.ts";
import { composeExec, submitTo } from "./compose-command-tools.ts";
import { composeMcp, composeMcpOAuth } from "./compose-mcp.ts";
import { composeMcpCalls } from "./compose-mcp-calls.ts";
import { composeRap, warn } from "./compose-rap.ts";
import type { Config } from "./config/config.ts";
import { ASK_IN_DEFAULT_MODE, type SwitchName } from "./config/features.ts";
import type { LayeredConfig } from "./config/layered-config.ts";
import type { ThreadState } from "./core/state.ts";
import type { Credentials } from "./credentials/open-credentials.ts";
import { OFFLINE_MODEL } from "./model/model.ts";
import type { Log } from "./observe/log.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import type { ProcessManager } from "./process/process-manager.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { VisibleFiles } from "./sandbox/visible-files.ts";
import type { ReachLookup } from "./server/owner-access.ts";
import type { ThreadConfigs } from "./server/thread-configs.ts";
import type { Store } from "./store/store.ts";
import { withInheritedGrants } from "./thread/inherited-grants.ts";
import type { Registry } from "./thread/registry.ts";
import type { Secrets } from "./thread/request-secrets.ts";
import type { HelperThreads } from "./tool/children/helper-tool.ts";
import { RulesStore } from "./tool/consent/rules-store.ts";
import { dynamicTools } from "./tool/dynamic/dynamic-tools.ts";
import type { ExecSource } from "./tool/exec/exec-source.ts";
import type { LazyMcp } from "./tool/mcp/lazy-mcp-servers.ts";
import type { LazyMcpSource } from "./tool/mcp/lazy-mcp-source.ts";
import type { McpServers } from "./tool/mcp/mcp-interface.ts";
import type { LazyOAuth } from "./tool/mcp/oauth/lazy-oauth.ts";
import { ownTools } from "./tool/own/own-tools.ts";
import { permissionTools } from "./tool/own/request-permissions.ts";
import type { LazyRap } from "./tool/rap/lazy-rap.ts";
import type { ToolSource } from "./tool/tool.ts";
import { Toolbox } from "./tool/toolbox.ts";
import type { RunnerPorts } from "./turn/runner.ts";

interface ToolParts {
  readonly home: string;
  readonly platform: Platform;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly supervisor: Supervisor;
  readonly store: Pick<Store, "documents" | "outputs">;
  readonly credentials: Credentials;
  readonly secrets: Secrets;
  readonly layers: LayeredConfig;
  /** The configuration at the start, for the parts that do not change. */
  readonly config: Config;
  readonly configs: ThreadConfigs;
  /** Whether a feature is on in a thread. */
  isOn(feature: SwitchName, threadId: string): boolean;
  readonly processes: ProcessManager;
  readonly sandbox: Sandbox;
  readonly reachLookup: ReachLookup;
  /** The files that a thread's model may see. */
  visibleTo(thread: ThreadState): VisibleFiles;
  /** How a model's command with network access could connect to a listener of this host; null if it cannot. */
  readonly listenerProblem: string | null;
  /** For tests: used instead of the configured ones. */
  readonly mcpServers: McpServers | undefined;
  /** For tests: additional tools. */
  readonly tools: ToolSource | undefined;
  /** Functions, because these parts are created later. */
  registry(): Registry;
  helperThreads(): HelperThreads;
  runner(): RunnerPorts;
}

/** Creates all tool sources, and the toolbox that joins them. */
export function composeTools(parts: ToolParts): {
  readonly rules: RulesStore;
  readonly exec: ExecSource;
  readonly rap: LazyRap;
  readonly mcp: LazyMcp;
  readonly mcpOAuth: LazyOAuth;
  readonly mcpTools: LazyMcpSource;
  readonly toolbox: Toolbox;
} {
  const { home, platform, log, metrics, supervisor, store, credentials, secrets } = parts;
  const { layers, config, configs, processes, sandbox, reachLookup, visibleTo, isOn, registry } = parts;
  const { seals } = credentials;
  const current = (): Config => configs.current;
  const reachOf = (owner: string) => reachLookup.of(owner);
  const warnThread = (threadId: string, message: string): boolean =>
    warn(registry(), threadId, message, platform.clock.now());
  const rules = new RulesStore(store.documents, {
    ...platform,
    projects: () => configs.current.projects,
    required: () => configs.current.requirements.rules,
  });
  const exec = composeExec({
    home,
    platform,
    processes,
    sandbox,
    supervisor,
    rules,
    listenerProblem: parts.listenerProblem,
    config: current,
    configOf: (threadId) => configs.of(threadId),
    hasCommands: (threadId) => isOn("shell_tool", threadId),
    reachOf,
    visibleTo,
    warn: warnThread,
    submit: (threadId, command) => submitTo(registry(), threadId, command),
    inherited: (thread) => withInheritedGrants(registry(), thread),
    outputs: store.outputs,
  });
  const mayAsk = ({ facts, settings }: ThreadState): boolean =>
    settings.modelProvider === OFFLINE_MODEL || isOn(ASK_IN_DEFAULT_MODE, facts.id);
  const own = [
    ...ownTools(platform, reachOf, config.maxGoalTokenBudget, visibleTo, mayAsk, isOn),
    exec,
    permissionTools({
      files: platform.files,
      home,
      mayWiden: ({ facts, turn }) =>
        reachOf(facts.owner).grants("full-access") &&
        turn?.kind !== "review" &&
        isOn("request_permissions_tool", facts.id),
    }),
  ];
  const rap = composeRap({
    home,
    documents: store.documents,
    settings: config.rap,
    platform,
    log,
    metrics,
    supervisor,
    secrets,
    seals,
    own,
    others: [...own, dynamicTools],
    mayUse: (owner, server) => reachOf(owner).mayUse(server),
    registry,
  });
  const mcpOAuth = composeMcpOAuth(credentials.mcp, platform);
  const mcp = composeMcp({
    home,
    platform,
    processes,
    supervisor,
    auth: mcpOAuth,
    seals,
    layers,
    config: current,
    reachOf,
    warn: warnThread,
    registry,
  });
  const mcpTools = composeMcpCalls({
    outputs: store.outputs,
    platform,
    supervisor,
    secrets,
    servers: parts.mcpServers ?? mcp,
    layers,
    config: current,
    configure: (next) => configs.configure(next),
    reachOf,
    registry,
    runner: parts.runner,
  });
  const toolbox = new Toolbox([
    ...own,
    composeHelperTools({
      home,
      platform,
      log,
      config: current,
      isOn: (threadId) => isOn("multi_agent", threadId),
      threads: parts.helperThreads,
    }),
    dynamicTools,
    rap,
    ...(parts.mcpServers === undefined ? [mcp] : []),
    mcpTools,
    ...(parts.tools === undefined ? [] : [parts.tools]),
  ]);
  return { rules, exec, rap, mcp, mcpOAuth, mcpTools, toolbox };
}
