import {
  array,
  boolean,
  enumeration,
  experimental,
  inline,
  integer,
  nullable,
  object,
  optional,
  record,
  type Static,
  string,
  union,
  unknown,
} from "../schema-language.ts";
import { CliAuthCredentialsStoreMode, ForcedLoginMethod, WindowsSandboxImplementation } from "./config.ts";
import { AllowDenyRequirement, WebSearchMode } from "./config-feature.ts";
import { ManagedHooksRequirements } from "./hook.ts";
import { RequestHeader } from "./initialize.ts";
import { ApprovalsReviewer, AskForApproval, ReasoningEffort, SandboxMode } from "./settings.ts";

export const ApplicationNetworkRequirements = object("ApplicationNetworkRequirements", () => ({
  domains: record(NetworkDomainPermission),
  enabled: boolean(),
}));
export type ApplicationNetworkRequirements = Static<typeof ApplicationNetworkRequirements>;

export const ApplicationRequirements = object("ApplicationRequirements", () => ({
  network: nullable(ApplicationNetworkRequirements),
  storage: nullable(ApplicationStorageRequirements),
}));
export type ApplicationRequirements = Static<typeof ApplicationRequirements>;

export const ApplicationStorageRequirements = object("ApplicationStorageRequirements", () => ({
  defaultProjectParent: nullable(string()),
  projectlessWorkspaceRoot: nullable(string()),
}));
export type ApplicationStorageRequirements = Static<typeof ApplicationStorageRequirements>;

export const AutoReviewRequirements = object("AutoReviewRequirements", () => ({
  ignoreRules: nullable(array(string())),
  requiredOnModels: nullable(array(string())),
}));
export type AutoReviewRequirements = Static<typeof AutoReviewRequirements>;

export const BrowserUseAccessApprovalLifetime = enumeration("BrowserUseAccessApprovalLifetime", [
  "turn",
  "thread",
]);
export type BrowserUseAccessApprovalLifetime = Static<typeof BrowserUseAccessApprovalLifetime>;

export const BrowserUseExtensionRequirements = object("BrowserUseExtensionRequirements", () => ({
  requestHeaders: nullable(array(RequestHeader)),
}));
export type BrowserUseExtensionRequirements = Static<typeof BrowserUseExtensionRequirements>;

export const BrowserUseOriginPolicy = object("BrowserUseOriginPolicy", () => ({
  access: nullable(AllowDenyRequirement),
  accessApprovalLifetime: nullable(BrowserUseAccessApprovalLifetime),
  autoReview: nullable(AllowDenyRequirement),
  downloads: nullable(AllowDenyRequirement),
  fullCdpAccess: nullable(AllowDenyRequirement),
  persistentApproval: nullable(boolean()),
  uploads: nullable(AllowDenyRequirement),
}));
export type BrowserUseOriginPolicy = Static<typeof BrowserUseOriginPolicy>;

export const BrowserUseRequirements = object("BrowserUseRequirements", () => ({
  allowGlobalPersistentApproval: nullable(boolean()),
  allowHistoryAccess: nullable(boolean()),
  allowWebmcp: nullable(boolean()),
  defaultOriginPolicy: nullable(BrowserUseOriginPolicy),
  disableAutoReview: nullable(boolean()),
  extension: nullable(BrowserUseExtensionRequirements),
  origins: nullable(record(BrowserUseOriginPolicy)),
}));
export type BrowserUseRequirements = Static<typeof BrowserUseRequirements>;

export const ComputerUseMacosRequirements = object("ComputerUseMacosRequirements", () => ({
  bundleIds: nullable(record(AllowDenyRequirement)),
}));
export type ComputerUseMacosRequirements = Static<typeof ComputerUseMacosRequirements>;

export const ComputerUseRequirements = object("ComputerUseRequirements", () => ({
  allowLockedComputerUse: nullable(boolean()),
  allowPersistentApproval: nullable(boolean()),
  defaultAppAccess: nullable(AllowDenyRequirement),
  macos: nullable(ComputerUseMacosRequirements),
  windows: nullable(ComputerUseWindowsRequirements),
}));
export type ComputerUseRequirements = Static<typeof ComputerUseRequirements>;

export const ComputerUseWindowsExeRequirement = object("ComputerUseWindowsExeRequirement", () => ({
  access: AllowDenyRequirement,
  binaryName: nullable(string()),
  productName: string(),
  publisherName: string(),
}));
export type ComputerUseWindowsExeRequirement = Static<typeof ComputerUseWindowsExeRequirement>;

export const ComputerUseWindowsRequirements = object("ComputerUseWindowsRequirements", () => ({
  aumids: nullable(record(AllowDenyRequirement)),
  exes: nullable(array(ComputerUseWindowsExeRequirement)),
}));
export type ComputerUseWindowsRequirements = Static<typeof ComputerUseWindowsRequirements>;

export const ConfigRequirements = object("ConfigRequirements", () => ({
  additionalDeveloperInstructions: nullable(string()),
  allowAppshots: nullable(boolean()),
  allowBrowserAndComputerUse: nullable(boolean()),
  allowLoginShell: nullable(boolean()),
  allowManagedHooksOnly: nullable(boolean()),
  allowRemoteControl: nullable(boolean()),
  allowedApprovalPolicies: nullable(array(AskForApproval)),
  allowedApprovalsReviewers: experimental(array(ApprovalsReviewer)),
  allowedLoginMethods: nullable(array(ForcedLoginMethod)),
  allowedPermissionProfiles: nullable(record(boolean())),
  allowedSandboxModes: nullable(array(SandboxMode)),
  allowedWebSearchModes: nullable(array(WebSearchMode)),
  allowedWindowsSandboxImplementations: nullable(array(WindowsSandboxImplementation)),
  application: experimental(ApplicationRequirements),
  autoReview: nullable(AutoReviewRequirements),
  browserUse: nullable(BrowserUseRequirements),
  chatgptBaseUrl: nullable(string()),
  checkForUpdateOnStartup: nullable(boolean()),
  cliAuthCredentialsStore: nullable(CliAuthCredentialsStoreMode),
  computerUse: nullable(ComputerUseRequirements),
  defaultPermissions: nullable(string()),
  enforceResidency: nullable(ResidencyRequirement),
  featureRequirements: nullable(record(boolean())),
  feedback: nullable(FeedbackRequirements),
  hooks: experimental(ManagedHooksRequirements),
  inAppBrowser: nullable(InAppBrowserRequirements),
  logDir: nullable(string()),
  mcpServers: experimental(record(unknown()), { ours: true, gated: false }),
  modelCatalogJson: nullable(string()),
  modelProvider: nullable(string()),
  modelProviders: nullable(record(unknown())),
  models: nullable(ModelsRequirements),
  network: experimental(NetworkRequirements),
  otel: nullable(OtelRequirements),
  sqliteHome: nullable(string()),
}));
export type ConfigRequirements = Static<typeof ConfigRequirements>;

export const ConfigRequirementsReadResponse = object("ConfigRequirementsReadResponse", () => ({
  requirements: nullable(ConfigRequirements),
  supportsIndependentSpeedModes: nullable(boolean()),
}));
export type ConfigRequirementsReadResponse = Static<typeof ConfigRequirementsReadResponse>;

export const FeedbackRequirements = object("FeedbackRequirements", () => ({ enabled: nullable(boolean()) }));
export type FeedbackRequirements = Static<typeof FeedbackRequirements>;

export const InAppBrowserRequirements = object("InAppBrowserRequirements", () => ({
  allowExternalBrowserSettingsImport: nullable(boolean()),
}));
export type InAppBrowserRequirements = Static<typeof InAppBrowserRequirements>;

export const ModelsRequirements = object("ModelsRequirements", () => ({
  newThread: nullable(NewThreadModelDefaults),
}));
export type ModelsRequirements = Static<typeof ModelsRequirements>;

export const NetworkDomainPermission = enumeration("NetworkDomainPermission", ["allow", "deny"]);
export type NetworkDomainPermission = Static<typeof NetworkDomainPermission>;

export const NetworkRequirements = object("NetworkRequirements", () => ({
  allowLocalBinding: nullable(boolean()),
  allowUnixSockets: nullable(array(string())),
  allowUpstreamProxy: nullable(boolean()),
  allowedDomains: nullable(array(string())),
  dangerouslyAllowAllUnixSockets: nullable(boolean()),
  dangerouslyAllowNonLoopbackProxy: nullable(boolean()),
  deniedDomains: nullable(array(string())),
  domains: nullable(record(NetworkDomainPermission)),
  enabled: nullable(boolean()),
  httpPort: nullable(integer("uint16")),
  managedAllowedDomainsOnly: nullable(boolean()),
  reviewDomains: nullable(array(string())),
  socksPort: nullable(integer("uint16")),
  unixSockets: nullable(record(NetworkUnixSocketPermission)),
}));
export type NetworkRequirements = Static<typeof NetworkRequirements>;

export const NetworkUnixSocketPermission = enumeration("NetworkUnixSocketPermission", ["allow", "deny"]);
export type NetworkUnixSocketPermission = Static<typeof NetworkUnixSocketPermission>;

export const NewThreadModelDefaults = object("NewThreadModelDefaults", () => ({
  model: nullable(string()),
  modelReasoningEffort: nullable(ReasoningEffort),
  serviceTier: nullable(string()),
}));
export type NewThreadModelDefaults = Static<typeof NewThreadModelDefaults>;

export const OtelExporter = union("OtelExporter", () => [
  enumeration("", ["none", "statsig"]),
  inline(() => ({
    "otlp-http": inline(() => ({
      endpoint: string(),
      headers: record(string()),
      protocol: OtelHttpProtocol,
      tls: nullable(OtelTlsConfig),
    })),
  })),
  inline(() => ({
    "otlp-grpc": inline(() => ({
      endpoint: string(),
      headers: record(string()),
      tls: nullable(OtelTlsConfig),
    })),
  })),
]);
export type OtelExporter = Static<typeof OtelExporter>;

export const OtelHttpProtocol = enumeration("OtelHttpProtocol", ["binary", "json"]);
export type OtelHttpProtocol = Static<typeof OtelHttpProtocol>;

export const OtelRequirements = object("OtelRequirements", () => ({
  environment: nullable(string()),
  exporter: nullable(OtelExporter),
  log_agent_responses: nullable(boolean()),
  log_guardian_assessments: nullable(boolean()),
  log_sse_deltas: nullable(boolean()),
  log_user_prompt: nullable(boolean()),
  metrics_exporter: nullable(OtelExporter),
  span_attributes: nullable(record(string())),
  tool_result: nullable(OtelToolResultLogConfig),
  trace_exporter: nullable(OtelExporter),
  tracestate: nullable(record(record(string()))),
}));
export type OtelRequirements = Static<typeof OtelRequirements>;

export const OtelTlsConfig = object("OtelTlsConfig", () => ({
  "ca-certificate": optional(string()),
  "client-certificate": optional(string()),
  "client-private-key": optional(string()),
}));
export type OtelTlsConfig = Static<typeof OtelTlsConfig>;

export const OtelToolResultLogConfig = object("OtelToolResultLogConfig", () => ({
  max_bytes: integer("uint64"),
}));
export type OtelToolResultLogConfig = Static<typeof OtelToolResultLogConfig>;

export const ResidencyRequirement = enumeration("ResidencyRequirement", ["us"]);
export type ResidencyRequirement = Static<typeof ResidencyRequirement>;
