import type { ConfigRequirements } from "@bobbin/protocol";
import { requiredHooksView } from "./hook-requirements.ts";
import { valueAt } from "./layer.ts";
import type { Requirements } from "./requirements.ts";

/** The fields that clients read without checking whether they exist. */
const NOTHING_REQUIRED: ConfigRequirements = {
  additionalDeveloperInstructions: null,
  allowAppshots: null,
  allowBrowserAndComputerUse: null,
  allowLoginShell: null,
  allowManagedHooksOnly: null,
  allowRemoteControl: null,
  allowedApprovalPolicies: null,
  allowedLoginMethods: null,
  allowedPermissionProfiles: null,
  allowedSandboxModes: null,
  allowedWebSearchModes: null,
  allowedWindowsSandboxImplementations: null,
  autoReview: null,
  browserUse: null,
  chatgptBaseUrl: null,
  checkForUpdateOnStartup: null,
  cliAuthCredentialsStore: null,
  computerUse: null,
  defaultPermissions: null,
  enforceResidency: null,
  featureRequirements: null,
  feedback: null,
  inAppBrowser: null,
  logDir: null,
  modelCatalogJson: null,
  modelProvider: null,
  modelProviders: null,
  models: null,
  otel: null,
  sqliteHome: null,
};

/** The requirements in the shape of the protocol; null if nothing is required. */
export function requirementsView(requirements: Requirements): ConfigRequirements | null {
  const { approvalPolicies, approvalsReviewers, sandboxModes, webSearchModes, loginMethods } = requirements;
  const { features, residency, values } = requirements;
  const hooks = requiredHooksView(requirements.hooks);
  const network = networkView(requirements.network);
  const mcpServers = mcpView(requirements.mcpServers);
  // The cast is safe: the files were checked when they were read.
  const value = (...path: string[]): never => (valueAt(values, path) ?? null) as never;
  const shown: ConfigRequirements = {
    ...NOTHING_REQUIRED,
    allowedApprovalPolicies: approvalPolicies && [...approvalPolicies],
    ...(approvalsReviewers && { allowedApprovalsReviewers: [...approvalsReviewers] }),
    // The protocol has no `external-sandbox` here.
    allowedSandboxModes: sandboxModes?.filter((mode) => mode !== "external-sandbox") ?? null,
    allowedWebSearchModes: webSearchModes && [...webSearchModes],
    allowedLoginMethods: loginMethods && [...loginMethods],
    featureRequirements: Object.keys(features).length === 0 ? null : { ...features },
    enforceResidency: residency,
    cliAuthCredentialsStore: value("cli_auth_credentials_store"),
    chatgptBaseUrl: value("chatgpt_base_url"),
    sqliteHome: value("sqlite_home"),
    logDir: value("log_dir"),
    modelCatalogJson: value("model_catalog_json"),
    modelProvider: value("model_provider"),
    modelProviders: value("model_providers"),
    checkForUpdateOnStartup: value("check_for_update_on_startup"),
    allowLoginShell: value("allow_login_shell"),
    feedback: value("feedback"),
    allowManagedHooksOnly: requirements.hooks.managedOnly,
    ...(hooks && { hooks }),
    ...(network && { network }),
    ...(mcpServers && { mcpServers }),
  };
  return Object.values(shown).every((one) => one === null) ? null : shown;
}

function networkView(network: Requirements["network"]): ConfigRequirements["network"] {
  if (network === null) return undefined;
  const { enabled, domains, onlyManaged } = network;
  const named = (wanted: "allow" | "deny"): string[] | null => {
    const patterns = domains.filter(({ access }) => access === wanted).map(({ pattern }) => pattern);
    return patterns.length === 0 ? null : patterns;
  };
  return {
    enabled,
    domains:
      domains.length === 0
        ? null
        : Object.fromEntries(domains.map(({ pattern, access }) => [pattern, access])),
    managedAllowedDomainsOnly: onlyManaged,
    allowedDomains: named("allow"),
    deniedDomains: named("deny"),
    // This host does not enforce the following fields.
    allowLocalBinding: null,
    allowUnixSockets: null,
    allowUpstreamProxy: null,
    dangerouslyAllowAllUnixSockets: null,
    dangerouslyAllowNonLoopbackProxy: null,
    httpPort: null,
    reviewDomains: null,
    socksPort: null,
    unixSockets: null,
  };
}

/** The allowed MCP servers as requirements.toml defines them. */
function mcpView(rules: Requirements["mcpServers"]): ConfigRequirements["mcpServers"] {
  if (rules === null) return undefined;
  const shown = [...rules].map(([name, { identity }]) => [name, { identity }]);
  return Object.fromEntries(shown);
}
