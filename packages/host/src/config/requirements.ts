import type { ApprovalsReviewer, AskForApproval, SandboxPolicy, WebSearchMode } from "@bobbin/protocol";
import type { ProviderSettings } from "../model/provider-settings.ts";
import type { HostRules } from "../sandbox/network/host-rules.ts";
import type { PermissionProfile } from "../sandbox/permission-profile.ts";
import type { PrefixRule } from "../tool/consent/command-and-network-rules.ts";
import { NO_HOOKS_REQUIRED, type RequiredHooks } from "./hook-requirements.ts";
import { isTable, valueAt } from "./layer.ts";
import type { McpServerAllowlist } from "./mcp-requirements.ts";
import { hostsNotAllowed, type NetworkRestrictions } from "./network-requirements.ts";
import type { Table } from "./table-reader.ts";

type LoginMethod = "api" | "chatgpt";
type SandboxMode = "read-only" | "workspace-write" | "danger-full-access" | "external-sandbox";

/** Requirements of an administrator on the configuration, from `requirements.toml`. */
export interface Requirements {
  /** The allowed approval policies; null if all are allowed. The next four lists have the same form. */
  readonly approvalPolicies: readonly AskForApproval[] | null;
  readonly approvalsReviewers: readonly ApprovalsReviewer[] | null;
  readonly sandboxModes: readonly SandboxMode[] | null;
  readonly webSearchModes: readonly WebSearchMode[] | null;
  readonly loginMethods: readonly LoginMethod[] | null;
  /** Features that are always on, or always off, whatever the configuration says. */
  readonly features: Readonly<Record<string, boolean>>;
  /** Region in which models must run. */
  readonly residency: "us" | null;
  /** Hooks that always run, and whether other hooks may run. */
  readonly hooks: RequiredHooks;
  /** The allowed MCP servers. */
  readonly mcpServers: McpServerAllowlist;
  /** Rules for commands. They demand approval or forbid. */
  readonly rules: readonly PrefixRule[];
  /** Rules for the network access of commands; null for none. */
  readonly network: NetworkRestrictions | null;
  /** Managed values: they override every layer, and clients cannot change them. */
  readonly values: Table;
  /** Keys that this host does not enforce. */
  readonly ignored: readonly string[];
}

export const NO_REQUIREMENTS: Requirements = {
  approvalPolicies: null,
  approvalsReviewers: null,
  sandboxModes: null,
  webSearchModes: null,
  loginMethods: null,
  features: {},
  residency: null,
  hooks: NO_HOOKS_REQUIRED,
  mcpServers: null,
  rules: [],
  network: null,
  values: {},
  ignored: [],
};

export const LOGIN_METHODS = ["api", "chatgpt"] as const;

/** Paths of the keys whose values can be managed. */
export const MANAGED: readonly (readonly string[])[] = [
  ["cli_auth_credentials_store"],
  ["chatgpt_base_url"],
  ["sqlite_home"],
  ["log_dir"],
  ["model_catalog_json"],
  ["model_provider"],
  ["model_providers"],
  ["check_for_update_on_startup"],
  ["allow_login_shell"],
  ["feedback", "enabled"],
];

/** Returns the managed key that a write to `path` would change; undefined if there is none. */
export function managedKey({ values }: Requirements, path: readonly string[]): string | undefined {
  // With managed providers, users cannot change the address of a built-in one either.
  if (path[0] === "openai_base_url" && values["model_providers"] !== undefined) return "model_providers";
  const found = MANAGED.find(
    (managed) =>
      valueAt(values, managed) !== undefined &&
      managed.every((key, at) => at >= path.length || path[at] === key),
  );
  return found?.join(".");
}

/** Applies the managed values to the configured table. They override it. */
export function withManaged(table: Table, { values, features }: Requirements): Table {
  // A shortcut, because most machines have no managed values.
  if (Object.keys(values).length === 0 && Object.keys(features).length === 0) return table;
  const pinned = Object.keys(features).length > 0 && {
    features: { ...(isTable(table["features"]) ? table["features"] : {}), ...features },
  };
  const merged = Object.entries(values).map(([key, value]): [string, unknown] => {
    const below = table[key];
    const isPart = key === "feedback" && isTable(below) && isTable(value);
    return [key, isPart ? { ...below, ...value } : value];
  });
  const { openai_base_url: address, ...rest } = table;
  const own = address === undefined || values["model_providers"] !== undefined ? rest : table;
  return { ...own, ...Object.fromEntries(merged), ...pinned };
}

interface Configured {
  readonly approvalPolicy: AskForApproval | undefined;
  readonly mode: SandboxMode;
  readonly webSearch: SearchMode;
  readonly forcedLogin: LoginMethod | null;
  /** `[hooks]`; undefined if the table is missing. */
  readonly hooks: unknown;
  readonly networkProxy: HostRules | null;
}

/**
 * Warnings for the user about configured values that are not allowed, and about requirements that this host does not
 * enforce.
 */
export function requirementWarnings(requirements: Requirements, configured: Configured): readonly string[] {
  const { approvalPolicies, sandboxModes, ignored } = requirements;
  const { approvalPolicy, mode, webSearch, forcedLogin, hooks, networkProxy } = configured;
  const says = (key: string, value: unknown, used: unknown): string =>
    `${key} = ${JSON.stringify(value)} is not allowed by requirements.toml; ${JSON.stringify(used)} is used.`;
  const warnings: string[] = [];
  if (approvalPolicy !== undefined && !allowsPolicy(requirements, approvalPolicy))
    warnings.push(says("approval_policy", approvalPolicy, approvalPolicies![0]));
  if (sandboxModes?.includes(mode) === false)
    warnings.push(says("sandbox_mode", mode, lowerMode(requirements)));
  if (allowedSearch(webSearch, requirements) !== webSearch)
    warnings.push(says("web_search", webSearch, "disabled"));
  const login = allowedLogin(forcedLogin, requirements);
  if (forcedLogin !== null && login !== forcedLogin)
    warnings.push(says("forced_login_method", forcedLogin, login));
  if (requirements.hooks.managedOnly === true && hasHooks(hooks))
    warnings.push("[hooks] of config.toml is ignored: requirements.toml allows managed hooks only.");
  const hosts = hostsNotAllowed(networkProxy, requirements.network);
  if (hosts.length > 0)
    warnings.push(`features.network_proxy.domains: requirements.toml does not allow ${hosts.join(", ")}.`);
  if (ignored.length > 0)
    warnings.push(`requirements.toml: this host does not enforce ${ignored.join(", ")}.`);
  return warnings;
}

function hasHooks(hooks: unknown): boolean {
  return isTable(hooks) && Object.keys(hooks).some((key) => key !== "state");
}

/** Returns the mode that replaces a disallowed one. */
export function lowerMode({ sandboxModes }: Requirements): "workspace-write" | "read-only" {
  return sandboxModes?.includes("workspace-write") ? "workspace-write" : "read-only";
}

type SearchMode = "live" | "cached" | null;

/** Whether a search mode is allowed. No search is always allowed. */
export function allowsSearch(
  { webSearchModes }: Pick<Requirements, "webSearchModes">,
  mode: WebSearchMode,
): boolean {
  return mode === "disabled" || webSearchModes?.includes(mode) !== false;
}

/** Returns the configured search mode, or null if the requirements do not allow it. */
export function allowedSearch(mode: SearchMode, { webSearchModes }: Requirements): SearchMode {
  return mode !== null && !allowsSearch({ webSearchModes }, mode) ? null : mode;
}

/** The only way to log in, or null if both are allowed. `forced`: the configured one. */
export function allowedLogin(
  forced: LoginMethod | null,
  { loginMethods }: Pick<Requirements, "loginMethods">,
): LoginMethod | null {
  const methods = new Set(loginMethods ?? LOGIN_METHODS);
  return methods.size === 1 ? [...methods][0]! : forced;
}

/** The header that informs OpenAI's service of the region in which models must run. */
const RESIDENCY_HEADER = "x-openai-internal-codex-residency";

/** Adds the residency header to all providers that use OpenAI's authentication. */
export function withResidency<T extends { readonly modelProviders: readonly ProviderSettings[] }>(
  read: T,
  { residency }: Requirements,
): T {
  if (residency === null) return read;
  const isOurs = ([name]: [string, string]): boolean => name.toLowerCase() !== RESIDENCY_HEADER;
  const without = (headers: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(headers).filter(isOurs));
  const modelProviders = read.modelProviders.map((provider) =>
    provider.requiresOpenaiAuth
      ? {
          ...provider,
          headers: { ...without(provider.headers), [RESIDENCY_HEADER]: residency },
          envHeaders: without(provider.envHeaders),
        }
      : provider,
  );
  return { ...read, modelProviders };
}

export function allowsPolicy({ approvalPolicies }: Requirements, policy: AskForApproval): boolean {
  return approvalPolicies?.some((one) => JSON.stringify(one) === JSON.stringify(policy)) ?? true;
}

/** The user's permission profiles, by name. */
export type Profiles = ReadonlyMap<string, PermissionProfile>;

/** A sandbox policy, and the permission profile that it was derived from. */
interface ChosenSandbox {
  readonly sandbox: SandboxPolicy;
  readonly permissionProfile?: string | null | undefined;
}

/**
 * The mode of a sandbox. A user's profile that writes to any file counts as `workspace-write`, although its policy is
 * `readOnly` if it does not write to the workspace.
 */
export function modeOf({ sandbox, permissionProfile }: ChosenSandbox, profiles: Profiles): SandboxMode {
  switch (sandbox.type) {
    case "readOnly":
      return canWrite(profiles.get(permissionProfile ?? "")) ? "workspace-write" : "read-only";
    case "workspaceWrite":
      return "workspace-write";
    case "dangerFullAccess":
      return "danger-full-access";
    case "externalSandbox":
      return "external-sandbox";
  }
}

function canWrite(profile: PermissionProfile | undefined): boolean {
  return profile?.rules.some(({ access }) => access === "write") ?? false;
}

/** The user's profiles that the requirements allow. A thread with a profile that is not allowed runs no commands. */
export function allowedProfiles({
  requirements: { sandboxModes },
  permissionProfiles,
}: {
  readonly requirements: Requirements;
  readonly permissionProfiles: Profiles;
}): Profiles {
  if (sandboxModes === null || sandboxModes.includes("workspace-write")) return permissionProfiles;
  return new Map([...permissionProfiles].filter(([, profile]) => !canWrite(profile)));
}
