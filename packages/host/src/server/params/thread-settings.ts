import { resolve } from "node:path";
import type { CollaborationMode, LoadSettings, Params, SandboxMode } from "@bobbin/protocol";
import { requiredChanges } from "../../config/apply-requirements.ts";
import { wholePolicy } from "../../config/approval-policy.ts";
import type { Config } from "../../config/config.ts";
import { allowsServer } from "../../config/mcp-requirements.ts";
import { type McpLayer, mergeMcpServers } from "../../config/mcp-servers.ts";
import { checkRequestedSettings } from "../../config/requirement-check.ts";
import { ofProfile, type SandboxChoice, sandboxPolicy, wholeSandbox } from "../../config/sandbox-settings.ts";
import type { Table } from "../../config/table-reader.ts";
import { ownToolServers } from "../../config/tool-servers.ts";
import { trustDefaults } from "../../config/trust-defaults.ts";
import type { ThreadSettings } from "../../core/life/records.ts";
import type { TurnSettings } from "../../core/turn/turn-settings.ts";
import { Fault, fault } from "../../errors.ts";
import { serviceTier, supportedTier } from "../../model/service-tier.ts";
import type { Files } from "../../platform/platform.ts";
import { trustIn } from "../../tool/consent/project-trust-lookup.ts";
import { checkDynamicTools } from "../../tool/dynamic/dynamic-spec.ts";
import type { Connection } from "../connection.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import { isHostUser } from "../host-user-check.ts";
import type { Principal } from "../listen/listener.ts";
import type { Reach } from "../owner-access.ts";
import { warnOfProjectKeys } from "../warnings/config-key-warnings.ts";
import { warnOfHooks } from "../warnings/hook-warnings.ts";
import { warnOfProject } from "../warnings/project-config-warnings.ts";
import { type ConfigScope, configured, requestConfig } from "./request-config.ts";
import { type RequestedWorkspace, requestedWorkspace } from "./requested-workspace.ts";

/**
 * The configuration error for a client. Subjects get a general text, because the message may quote a line with a
 * secret.
 */
export function wrongConfigFor(why: string, principal: Principal): string {
  return isHostUser(principal) ? why : UNUSABLE;
}

const UNUSABLE = "config.toml cannot be used";

/** The caller's configuration and access rights, against which the settings in a request are checked. */
export interface SettingsScope extends ConfigScope, Pick<HandlerContext, "providers"> {
  readonly files: Pick<Files, "exists" | "readText" | "realPath">;
  readonly reach: Reach;
}

export function settingsScope(context: HandlerContext, connection: Connection): SettingsScope {
  const { home, providers, platform } = context;
  const reach = reachOf(context, connection);
  return { home, providers, files: platform.files, config: reach.config, reach };
}

/**
 * The scope for loading a thread. Reads the configuration files again, for a folder if one is named. If the
 * configuration is invalid, the load fails: default settings could be less strict.
 */
export async function loadScope(
  context: HandlerContext,
  connection: Connection,
  cwd?: string | null,
): Promise<SettingsScope> {
  const isHost = isHostUser(connection.meta.principal);
  const { cwd: usual } = reachOf(context, connection);
  // Threads of subjects ignore the files of projects.
  const folder = isHost && cwd !== undefined ? resolve(usual, cwd ?? ".") : undefined;
  const loaded = context.configs.load(folder);
  const config = await loaded.catch((cause: unknown) => {
    if (isHost || !(cause instanceof Fault) || cause.code !== "badConfig") throw cause;
    throw fault("badConfig", UNUSABLE);
  });
  const found = folder === undefined ? undefined : context.configs.snapshot(folder);
  if (found !== undefined) {
    warnOfProject(connection, found);
    context.supervisor.take("looking at keys", warnOfProjectKeys(connection, found));
    context.supervisor.take("looking at hooks", warnOfHooks(context, connection, found, folder!));
  }
  const scope = settingsScope(context, connection);
  return isHost ? { ...scope, config } : scope;
}

/** The settings of a new thread: those of the request, else the configured ones. */
export function newSettings(params: Asked, scope: SettingsScope): Promise<ThreadSettings> {
  return settingsFor({}, params, scope);
}

/**
 * The settings of a fork: folder, approval policy and reviewer come from the original thread, the rest as for a new
 * thread. A thread whose provider is not the configured one keeps its provider and model.
 */
export function forkSettings(
  from: ThreadSettings,
  params: Asked,
  scope: SettingsScope,
): Promise<ThreadSettings> {
  const { cwd, roots, approvalPolicy, approvalsReviewer, modelProvider } = from;
  const isConfigured = modelProvider === scope.config.modelProvider;
  const retained = {
    cwd,
    ...(roots && { roots }),
    approvalPolicy,
    approvalsReviewer,
    ...(!isConfigured && { modelProvider, model: from.model }),
  };
  return settingsFor(retained, params, scope);
}

function configuredSettings({ config, reach }: SettingsScope): ThreadSettings {
  return {
    model: config.model,
    modelProvider: config.modelProvider,
    serviceTier: config.serviceTier,
    cwd: reach.cwd,
    approvalPolicy: config.approvalPolicy,
    approvalsReviewer: config.approvalsReviewer,
    ...config.sandbox,
    effort: config.effort,
    summary: config.summary,
    personality: config.personality,
    verbosity: config.verbosity,
  };
}

/** Precedence: the request, the retained settings, defaults by trust in the folder, the configuration. */
async function settingsFor(
  retained: Partial<ThreadSettings>,
  params: Asked,
  scope: SettingsScope,
): Promise<ThreadSettings> {
  const configured = configuredSettings(scope);
  const requested = await askedSettings(params, retained.cwd ?? configured.cwd, scope);
  const { cwd } = { ...configured, ...retained, ...requested };
  const trust = await trustIn(scope.files, cwd, scope.config.projects);
  const unasked = { ...configured, ...trustDefaults(trust, scope.config), ...retained };
  const all = { ...unasked, ...required(unasked, scope.config), ...requested };
  scope.providers.get(all.modelProvider);
  return { ...all, serviceTier: supportedTier(all.serviceTier, all.model) };
}

/** The changes to the settings that the administrator's requirements demand. */
export function required(settings: ThreadSettings, config: Config): Partial<ThreadSettings> {
  return requiredChanges(config.requirements, settings, config);
}

interface Asked
  extends Omit<Partial<Params<"thread/settings/update">>, "threadId" | "cwd" | "environments">,
    RequestedWorkspace {
  readonly modelProvider?: string | null | undefined;
  readonly sandbox?: SandboxMode | null | undefined;
  readonly config?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The settings that a request changes. Throws if the caller may not choose them. */
export async function askedSettings(
  params: Asked,
  cwd: string,
  scope: SettingsScope,
): Promise<Partial<ThreadSettings>> {
  const { webSearch, ...own } = configured(params.config, scope);
  // A search beyond the configuration needs the network. It is ignored, like other keys that the caller may not use.
  const maySearch = webSearch !== undefined && scope.reach.grants("network");
  const requested = { ...own, ...(maySearch && { webSearch }), ...namedSettings(params, cwd, scope) };
  checkRequestedSettings(scope.config.requirements, requested, scope.config.permissionProfiles);
  await scope.reach.checkSettings(requested, cwd);
  return requested;
}

/** The settings that a request changes for one turn. A null tier removes the tier; other nulls change nothing. */
export function askedTurnSettings(
  params: Omit<Params<"turn/settings/update">, "threadId" | "turnId">,
): TurnSettings {
  const { model, effort, summary, serviceTier: tier, approvalsReviewer, environments } = params;
  if (environments != null) throw fault("environmentsFixed");
  if (model === "") throw fault("emptyModel");
  return {
    ...(model != null && { model }),
    ...(effort != null && { effort }),
    ...(summary != null && { summary }),
    ...(tier !== undefined && { serviceTier: serviceTier(tier) }),
    ...(approvalsReviewer != null && { approvalsReviewer }),
  };
}

function namedSettings(params: Asked, cwd: string, scope: SettingsScope): Partial<ThreadSettings> {
  if (params.modelProvider != null) scope.providers.get(params.modelProvider);
  const requested: Partial<Record<keyof ThreadSettings, unknown>> = {
    model: params.model,
    modelProvider: params.modelProvider,
    // Null means: no tier.
    serviceTier: params.serviceTier === undefined ? undefined : serviceTier(params.serviceTier),
    ...requestedWorkspace(params, cwd),
    approvalPolicy: params.approvalPolicy == null ? undefined : wholePolicy(params.approvalPolicy),
    approvalsReviewer: params.approvalsReviewer,
    ...requestedSandbox(params, scope),
    effort: params.effort,
    summary: params.summary,
    personality: params.personality,
  };
  const changes: Partial<Record<keyof ThreadSettings, unknown>> = {};
  for (const key in requested) {
    const value = requested[key as keyof ThreadSettings];
    if (value !== undefined && (value !== null || key === "permissionProfile"))
      changes[key as keyof ThreadSettings] = value;
  }
  const mode = params.collaborationMode;
  if (mode != null) Object.assign(changes, modeSettings(mode));
  return changes as Partial<ThreadSettings>;
}

/** The model and effort of a collaboration mode override those that the request names separately. */
function modeSettings({ mode: kind, settings }: CollaborationMode): Partial<ThreadSettings> {
  const { model, reasoning_effort: effort, developer_instructions: instructions } = settings;
  return { model, effort: effort ?? null, mode: { kind, instructions: instructions ?? null } };
}

/** Refuses a request with two sandbox settings, because it is unclear which one the client wants. */
export function refuseTwoSandboxes({ sandbox, sandboxPolicy: policy, permissions }: Asked): void {
  if (permissions == null) return;
  if (sandbox != null) throw fault("twoSandboxes", "sandbox");
  if (policy != null) throw fault("twoSandboxes", "sandboxPolicy");
}

function requestedSandbox(params: Asked, scope: ConfigScope): SandboxChoice | undefined {
  const { sandbox: mode, sandboxPolicy: policy, permissions, config } = params;
  if (permissions == null) {
    if (policy != null) return { sandbox: wholeSandbox(policy), permissionProfile: null };
    if (mode == null) return undefined;
    const { workspaceWrite } = requestConfig(config, scope);
    return { sandbox: sandboxPolicy(mode, workspaceWrite), permissionProfile: null };
  }
  refuseTwoSandboxes(params);
  try {
    return ofProfile(permissions, scope.config.permissionProfiles);
  } catch (cause) {
    throw fault("badConfig", (cause as Error).message);
  }
}

/** Settings that take effect when a thread is loaded. Missing keys are left out. */
export function askedLoadSettings(
  params: LoadSettings & Pick<Asked, "config">,
  scope: SettingsScope,
): LoadSettings {
  if (params.dynamicTools != null) checkDynamicTools(params.dynamicTools);
  const settings: Record<string, unknown> = {};
  if (params.config != null) {
    const { developerInstructions, mcp } = requestConfig(params.config, scope);
    if (developerInstructions !== null) settings.developerInstructions = developerInstructions;
    // Servers that the caller may not bring are ignored, like other keys that the caller may not use.
    const mayBringServers = scope.reach.grants("mcp-servers") && Object.keys(mcp.table).length > 0;
    if (mayBringServers) settings.mcpServers = mcp.table;
  }
  for (const key of LOAD_SETTINGS)
    if (params[key] !== undefined) settings[key] = params[key] ?? settings[key] ?? null;
  checkLoadSettings(settings, scope);
  return settings;
}

function checkLoadSettings(settings: LoadSettings, { reach, config }: SettingsScope): void {
  try {
    ownToolServers(settings.toolServers);
  } catch (cause) {
    throw fault("badConfig", (cause as Error).message);
  }
  checkMcpServers(settings.mcpServers ?? {}, config);
  reach.checkLoadSettings(settings);
}

/** Throws if the MCP servers that a request names are invalid. Does not check the configured ones. */
function checkMcpServers(table: Table, { mcp, requirements }: Config): void {
  const layers: McpLayer[] = [
    { table: mcp.table, origin: "host" },
    { table, origin: "thread" },
  ];
  const { servers, problems } = mergeMcpServers(layers);
  const problem = problems.find((one) => !mcp.problems.includes(one));
  if (problem !== undefined) throw fault("badConfig", problem);
  const refused = servers.find(
    (server) => Object.hasOwn(table, server.name) && !allowsServer(requirements.mcpServers, server),
  );
  if (refused !== undefined) throw fault("mcpServerNotAllowed", refused.name);
}

const LOAD_SETTINGS = [
  "developerInstructions",
  "baseInstructions",
  "toolServers",
  "mcpServers",
  "dynamicTools",
  "memoryMode",
] as const satisfies readonly (keyof LoadSettings)[];
