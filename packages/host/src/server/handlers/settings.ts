import { resolve } from "node:path";
import type { CollaborationMode, LoadSettings, Params, SandboxMode, SandboxPolicy } from "@bobbin/protocol";
import { wholePolicy } from "../../config/approval-policy.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { set } from "../../config/load.ts";
import { threadServers } from "../../config/tool-servers.ts";
import type { ThreadSettings } from "../../core/life/records.ts";
import { fault } from "../../errors.ts";
import { ownTier, serviceTier } from "../../model/service-tier.ts";
import { checkDynamicTools } from "../../tool/dynamic-spec.ts";
import { isHostUser } from "../authorize.ts";
import type { Connection } from "../connection.ts";
import type { Principal } from "../listen/door.ts";
import type { HandlerContext } from "./context.ts";

/** No thread is loaded with settings that are not those that people wrote: they may have wanted less to be allowed. */
export function refuseWrongConfig({ wrongConfig }: HandlerContext, { meta }: Connection): void {
  if (wrongConfig !== null) throw fault("badConfig", wrongConfigFor(wrongConfig, meta.principal));
}

/** The words may have a line of the file in them, and that a secret. */
export function wrongConfigFor(why: string, principal: Principal): string {
  return isHostUser(principal) ? why : "config.toml can not be used";
}

/** What a new thread runs on: what was asked for, else what is configured. */
export function newSettings(
  params: Asked & Pick<Params<"thread/start">, "config">,
  context: HandlerContext,
): ThreadSettings {
  const { config, cwd } = context;
  const defaults: ThreadSettings = {
    model: config.model,
    modelProvider: config.modelProvider,
    serviceTier: config.serviceTier,
    cwd,
    approvalPolicy: config.approvalPolicy,
    approvalsReviewer: "user",
    sandbox: sandboxPolicy(config.sandboxMode),
    permissionProfile: null,
    effort: config.effort,
    summary: config.summary,
    personality: config.personality,
    verbosity: config.verbosity,
  };
  const settings = { ...defaults, ...configured(params.config), ...askedSettings(params, cwd, context) };
  context.providers.get(settings.modelProvider);
  return { ...settings, serviceTier: ownTier(settings.serviceTier, settings.model) };
}

/** `config` of a request: values of config.toml for this thread. Keys that are not a thread's are left alone. */
export function configured(
  given: Readonly<Record<string, unknown>> | null | undefined,
): Partial<ThreadSettings> {
  if (given == null) return {};
  const table = nested(given);
  let config: Config;
  try {
    config = readConfig(table);
  } catch (cause) {
    throw fault("badConfig", (cause as Error).message);
  }
  const known: [string, Partial<ThreadSettings>][] = [
    ["model", { model: config.model }],
    ["model_provider", { modelProvider: config.modelProvider }],
    ["approval_policy", { approvalPolicy: config.approvalPolicy }],
    ["sandbox_mode", { sandbox: sandboxPolicy(config.sandboxMode) }],
    ["service_tier", { serviceTier: config.serviceTier }],
    ["model_reasoning_effort", { effort: config.effort }],
    ["model_reasoning_summary", { summary: config.summary }],
    ["model_verbosity", { verbosity: config.verbosity }],
    ["model_context_window", { contextWindow: config.contextWindow }],
    ["model_auto_compact_token_limit", { autoCompactTokens: config.autoCompactTokens }],
    ["personality", { personality: config.personality }],
  ];
  return Object.assign({}, ...known.filter(([key]) => Object.hasOwn(table, key)).map(([, change]) => change));
}

/** Keys may be paths, as with `-c`. */
function nested(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const table: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(given)) set(table, path.split("."), value);
  return table;
}

interface Asked extends Omit<Partial<Params<"thread/settings/update">>, "threadId"> {
  readonly modelProvider?: string | null | undefined;
  readonly sandbox?: SandboxMode | null | undefined;
}

/** What a request asks to be changed, and nothing else. */
export function askedSettings(
  params: Asked,
  cwd: string,
  { providers }: HandlerContext,
): Partial<ThreadSettings> {
  if (params.modelProvider != null) providers.get(params.modelProvider);
  const sandbox = askedSandbox(params);
  const asked: Partial<Record<keyof ThreadSettings, unknown>> = {
    model: params.model,
    modelProvider: params.modelProvider,
    // Null is an answer here: none, whatever it was.
    serviceTier: params.serviceTier === undefined ? undefined : serviceTier(params.serviceTier),
    cwd: params.cwd == null ? undefined : resolve(cwd, params.cwd),
    approvalPolicy: params.approvalPolicy == null ? undefined : wholePolicy(params.approvalPolicy),
    approvalsReviewer: params.approvalsReviewer,
    sandbox,
    effort: params.effort,
    summary: params.summary,
    personality: params.personality,
  };
  const changes: Partial<Record<keyof ThreadSettings, unknown>> = {};
  for (const key in asked) {
    const value = asked[key as keyof ThreadSettings];
    if (value !== undefined && value !== null) changes[key as keyof ThreadSettings] = value;
  }
  if (sandbox !== undefined) changes.permissionProfile = params.permissions ?? null;
  const mode = params.collaborationMode;
  if (mode != null) Object.assign(changes, modeSettings(mode));
  return changes as Partial<ThreadSettings>;
}

/** A mode names its model and effort, which go before those that are named beside it. */
function modeSettings({ mode: kind, settings }: CollaborationMode): Partial<ThreadSettings> {
  const { model, reasoning_effort: effort, developer_instructions: instructions } = settings;
  return { model, effort: effort ?? null, mode: { kind, instructions: instructions ?? null } };
}

/** The profiles that are built in, and the sandbox that each of them is. */
export const PERMISSION_PROFILES: ReadonlyMap<string, SandboxMode> = new Map([
  [":read-only", "read-only"],
  [":workspace", "workspace-write"],
  [":danger-full-access", "danger-full-access"],
]);

function askedSandbox({ sandbox, sandboxPolicy: policy, permissions }: Asked): SandboxPolicy | undefined {
  if (permissions == null) return policy ?? (sandbox == null ? undefined : sandboxPolicy(sandbox));
  // Two answers to one question: whichever of them won, someone would be surprised by what is allowed.
  if (policy != null || sandbox != null)
    throw fault("invalidParams", "permissions", "it can not be combined with a sandbox");
  const mode = PERMISSION_PROFILES.get(permissions);
  if (mode === undefined) throw fault("badConfig", `there is no permission profile \`${permissions}\``);
  return sandboxPolicy(mode);
}

/** Settings that are bound when a thread is loaded; keys that were not given are left out. */
export function askedLoadSettings(params: LoadSettings, { rap }: Config): LoadSettings {
  if (params.dynamicTools != null) checkDynamicTools(params.dynamicTools);
  if (params.toolServers != null) checkToolServers(params.toolServers, rap);
  const asked: Record<string, unknown> = {};
  for (const key of LOAD_SETTINGS) if (params[key] !== undefined) asked[key] = params[key];
  return asked;
}

function checkToolServers(given: NonNullable<LoadSettings["toolServers"]>, rap: Config["rap"]): void {
  try {
    threadServers(rap, given);
  } catch (cause) {
    throw fault("badConfig", (cause as Error).message);
  }
}

const LOAD_SETTINGS = [
  "developerInstructions",
  "baseInstructions",
  "toolServers",
  "mcpServers",
  "dynamicTools",
  "memoryMode",
] as const satisfies readonly (keyof LoadSettings)[];

function sandboxPolicy(mode: SandboxMode): SandboxPolicy {
  switch (mode) {
    case "read-only":
      return { type: "readOnly", networkAccess: false };
    case "workspace-write":
      return {
        type: "workspaceWrite",
        writableRoots: [],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      };
    case "danger-full-access":
      return { type: "dangerFullAccess" };
  }
}
