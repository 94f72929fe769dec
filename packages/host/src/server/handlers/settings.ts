import type { CollaborationMode, LoadSettings, Params, SandboxMode } from "@bobbin/protocol";
import { wholePolicy } from "../../config/approval-policy.ts";
import { ofProfile, type SandboxChoice, sandboxPolicy } from "../../config/sandbox.ts";
import { serversOfThread } from "../../config/tool-servers.ts";
import { trustDefaults } from "../../config/trust-defaults.ts";
import type { ThreadSettings } from "../../core/life/records.ts";
import { fault } from "../../errors.ts";
import { ownTier, serviceTier } from "../../model/service-tier.ts";
import type { Files } from "../../platform/platform.ts";
import { checkDynamicTools } from "../../tool/dynamic-spec.ts";
import { trustIn } from "../../tool/project-trust.ts";
import type { Connection } from "../connection.ts";
import { isHostUser } from "../host-user.ts";
import type { Principal } from "../listen/door.ts";
import type { Reach } from "../reach.ts";
import { type AskedPlaces, askedPlaces } from "./asked-places.ts";
import { type HandlerContext, reachOf } from "./context.ts";
import { type ConfigScope, configured, requestConfig } from "./request-config.ts";

/** No thread is loaded with settings that are not those that people wrote: they may have wanted less to be allowed. */
export function refuseWrongConfig({ wrongConfig }: HandlerContext, { meta }: Connection): void {
  if (wrongConfig !== null) throw fault("badConfig", wrongConfigFor(wrongConfig, meta.principal));
}

/** The words may have a line of the file in them, and that a secret. */
export function wrongConfigFor(why: string, principal: Principal): string {
  return isHostUser(principal) ? why : "config.toml can not be used";
}

/** What settings in a request are read with: the configuration and the reach of whoever asks. */
export interface SettingsScope extends ConfigScope, Pick<HandlerContext, "providers"> {
  readonly files: Pick<Files, "exists" | "realPath">;
  readonly reach: Reach;
}

export function settingsScope(context: HandlerContext, connection: Connection): SettingsScope {
  const { home, providers, platform } = context;
  const reach = reachOf(context, connection);
  return { home, providers, files: platform.files, config: reach.config, reach };
}

/** What a new thread runs on: what was asked for, else what is configured. */
export function newSettings(params: Asked, scope: SettingsScope): Promise<ThreadSettings> {
  return settingsFor({}, params, scope);
}

/**
 * What a fork runs on: where its thread works and who is asked are its thread's, the rest is as for a new thread. A
 * thread that is on another provider than the configured one stays there, with its model.
 */
export function forkSettings(
  from: ThreadSettings,
  params: Asked,
  scope: SettingsScope,
): Promise<ThreadSettings> {
  const { cwd, roots, approvalPolicy, approvalsReviewer, modelProvider } = from;
  const isConfigured = modelProvider === scope.config.modelProvider;
  const kept = {
    cwd,
    ...(roots && { roots }),
    approvalPolicy,
    approvalsReviewer,
    ...(!isConfigured && { modelProvider, model: from.model }),
  };
  return settingsFor(kept, params, scope);
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

/** What was asked for goes before what is kept, that before what trust in the folder implies, that before the rest. */
async function settingsFor(
  kept: Partial<ThreadSettings>,
  params: Asked,
  scope: SettingsScope,
): Promise<ThreadSettings> {
  const configured = configuredSettings(scope);
  const asked = await askedSettings(params, kept.cwd ?? configured.cwd, scope);
  const { cwd } = { ...configured, ...kept, ...asked };
  const trust = await trustIn(scope.files, cwd, scope.config.projects);
  const all = { ...configured, ...trustDefaults(trust, scope.config), ...kept, ...asked };
  scope.providers.get(all.modelProvider);
  return { ...all, serviceTier: ownTier(all.serviceTier, all.model) };
}

interface Asked extends Omit<Partial<Params<"thread/settings/update">>, "threadId" | "cwd">, AskedPlaces {
  readonly modelProvider?: string | null | undefined;
  readonly sandbox?: SandboxMode | null | undefined;
  readonly config?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What a request asks to be changed, and nothing else. Throws if it is out of reach. */
export async function askedSettings(
  params: Asked,
  cwd: string,
  scope: SettingsScope,
): Promise<Partial<ThreadSettings>> {
  const asked = { ...configured(params.config, scope), ...namedSettings(params, cwd, scope) };
  await scope.reach.checkSettings(asked, cwd);
  return asked;
}

function namedSettings(params: Asked, cwd: string, scope: SettingsScope): Partial<ThreadSettings> {
  if (params.modelProvider != null) scope.providers.get(params.modelProvider);
  const asked: Partial<Record<keyof ThreadSettings, unknown>> = {
    model: params.model,
    modelProvider: params.modelProvider,
    // Null is an answer here: none, whatever it was.
    serviceTier: params.serviceTier === undefined ? undefined : serviceTier(params.serviceTier),
    ...askedPlaces(params, cwd),
    approvalPolicy: params.approvalPolicy == null ? undefined : wholePolicy(params.approvalPolicy),
    approvalsReviewer: params.approvalsReviewer,
    ...askedSandbox(params, scope),
    effort: params.effort,
    summary: params.summary,
    personality: params.personality,
  };
  const changes: Partial<Record<keyof ThreadSettings, unknown>> = {};
  for (const key in asked) {
    const value = asked[key as keyof ThreadSettings];
    if (value !== undefined && (value !== null || key === "permissionProfile"))
      changes[key as keyof ThreadSettings] = value;
  }
  const mode = params.collaborationMode;
  if (mode != null) Object.assign(changes, modeSettings(mode));
  return changes as Partial<ThreadSettings>;
}

/** A mode names its model and effort, which go before those that are named beside it. */
function modeSettings({ mode: kind, settings }: CollaborationMode): Partial<ThreadSettings> {
  const { model, reasoning_effort: effort, developer_instructions: instructions } = settings;
  return { model, effort: effort ?? null, mode: { kind, instructions: instructions ?? null } };
}

/** Two answers to one question: whichever of them won, someone would be surprised by what is allowed. */
export function refuseTwoSandboxes({ sandbox, sandboxPolicy: policy, permissions }: Asked): void {
  if (permissions == null) return;
  if (sandbox != null) throw fault("twoSandboxes", "sandbox");
  if (policy != null) throw fault("twoSandboxes", "sandboxPolicy");
}

function askedSandbox(asked: Asked, scope: ConfigScope): SandboxChoice | undefined {
  const { sandbox: mode, sandboxPolicy: policy, permissions, config } = asked;
  if (permissions == null) {
    if (policy != null) return { sandbox: policy, permissionProfile: null };
    if (mode == null) return undefined;
    const { workspaceWrite } = requestConfig(config, scope);
    return { sandbox: sandboxPolicy(mode, workspaceWrite), permissionProfile: null };
  }
  refuseTwoSandboxes(asked);
  try {
    return ofProfile(permissions, scope.config.permissionProfiles);
  } catch (cause) {
    throw fault("badConfig", (cause as Error).message);
  }
}

/** Settings that are bound when a thread is loaded; keys that were not given are left out. */
export function askedLoadSettings(
  params: LoadSettings & Pick<Asked, "config">,
  scope: SettingsScope,
): LoadSettings {
  if (params.dynamicTools != null) checkDynamicTools(params.dynamicTools);
  checkLoadSettings(params, scope);
  const asked: Record<string, unknown> = {};
  if (params.config != null) {
    const { developerInstructions } = requestConfig(params.config, scope);
    if (developerInstructions !== null) asked.developerInstructions = developerInstructions;
  }
  for (const key of LOAD_SETTINGS)
    if (params[key] !== undefined) asked[key] = params[key] ?? asked[key] ?? null;
  return asked;
}

function checkLoadSettings(asked: LoadSettings, { reach }: SettingsScope): void {
  try {
    serversOfThread(asked.toolServers);
  } catch (cause) {
    throw fault("badConfig", (cause as Error).message);
  }
  reach.checkLoadSettings(asked);
}

const LOAD_SETTINGS = [
  "developerInstructions",
  "baseInstructions",
  "toolServers",
  "mcpServers",
  "dynamicTools",
  "memoryMode",
] as const satisfies readonly (keyof LoadSettings)[];
