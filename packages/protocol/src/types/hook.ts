import {
  array,
  boolean,
  enumeration,
  filePath,
  integer,
  nullable,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
  tagged,
  unknown,
} from "../schema-language.ts";

export const ConfiguredHookHandler = tagged("ConfiguredHookHandler", "type", () => ({
  command: {
    additionalContextLimit: nullable(integer("uint64")),
    async: boolean(),
    command: string(),
    commandWindows: nullable(string()),
    statusMessage: nullable(string()),
    timeoutSec: nullable(integer("uint64")),
  },
  mcp_tool: {
    input: record(unknown()),
    server: string(),
    statusMessage: nullable(string()),
    timeoutSec: nullable(integer("uint64")),
    tool: string(),
  },
  prompt: {},
  agent: {},
}));
export type ConfiguredHookHandler = Static<typeof ConfiguredHookHandler>;

export const ConfiguredHookMatcherGroup = object("ConfiguredHookMatcherGroup", () => ({
  hooks: array(ConfiguredHookHandler),
  matcher: nullable(string()),
}));
export type ConfiguredHookMatcherGroup = Static<typeof ConfiguredHookMatcherGroup>;

export const HookErrorInfo = object("HookErrorInfo", () => ({ message: string(), path: string() }));
export type HookErrorInfo = Static<typeof HookErrorInfo>;

export const HookEventName = enumeration("HookEventName", [
  "preModelRequest",
  "postModelRequest",
  "preToolUse",
  "permissionRequest",
  "postToolUse",
  "preCompact",
  "postCompact",
  "sessionStart",
  "sessionEnd",
  "userPromptSubmit",
  "subagentStart",
  "subagentStop",
  "stop",
  "interrupt",
]);
export type HookEventName = Static<typeof HookEventName>;

export const HookMetadata = tagged(
  "HookMetadata",
  "handlerType",
  () => ({
    command: { async: boolean(), command: string() },
    mcpTool: { server: string(), tool: string() },
    prompt: {},
    agent: {},
  }),
  {
    common: () => ({
      additionalContextLimit: nullable(integer("uint64")),
      currentHash: string(),
      displayOrder: integer(),
      enabled: boolean(),
      environmentId: nullable(string()),
      eventName: HookEventName,
      isManaged: boolean(),
      key: string(),
      matcher: nullable(string()),
      pluginId: nullable(string()),
      source: HookSource,
      sourcePath: string(),
      statusMessage: nullable(string()),
      timeoutSec: integer("uint64"),
      trustStatus: HookTrustStatus,
    }),
  },
);
export type HookMetadata = Static<typeof HookMetadata>;

export const HookExecutionMode = enumeration("HookExecutionMode", ["sync", "async"]);
export type HookExecutionMode = Static<typeof HookExecutionMode>;

export const HookHandlerType = enumeration("HookHandlerType", ["command", "mcpTool", "prompt", "agent"]);
export type HookHandlerType = Static<typeof HookHandlerType>;

export const HookOutputEntryKind = enumeration("HookOutputEntryKind", [
  "warning",
  "stop",
  "feedback",
  "context",
  "error",
]);
export type HookOutputEntryKind = Static<typeof HookOutputEntryKind>;

export const HookOutputEntry = object("HookOutputEntry", () => ({
  kind: HookOutputEntryKind,
  text: string(),
}));
export type HookOutputEntry = Static<typeof HookOutputEntry>;

export const HookRunStatus = enumeration("HookRunStatus", [
  "running",
  "completed",
  "failed",
  "blocked",
  "stopped",
]);
export type HookRunStatus = Static<typeof HookRunStatus>;

export const HookRunSummary = object("HookRunSummary", () => ({
  completedAt: nullable(integer()),
  displayOrder: integer(),
  durationMs: nullable(integer()),
  entries: array(HookOutputEntry),
  eventName: HookEventName,
  executionMode: HookExecutionMode,
  handlerType: HookHandlerType,
  id: string(),
  scope: HookScope,
  source: HookSource,
  sourcePath: string(),
  startedAt: integer(),
  status: HookRunStatus,
  statusMessage: nullable(string()),
}));
export type HookRunSummary = Static<typeof HookRunSummary>;

export const HookScope = enumeration("HookScope", ["thread", "turn"]);
export type HookScope = Static<typeof HookScope>;

export const HookStartedNotification = object("HookStartedNotification", () => ({
  run: HookRunSummary,
  threadId: string(),
  turnId: nullable(string()),
}));
export type HookStartedNotification = Static<typeof HookStartedNotification>;

export const HookCompletedNotification = object("HookCompletedNotification", () => ({
  run: HookRunSummary,
  threadId: string(),
  turnId: nullable(string()),
}));
export type HookCompletedNotification = Static<typeof HookCompletedNotification>;

export const HookSource = enumeration("HookSource", [
  "system",
  "user",
  "project",
  "mdm",
  "sessionFlags",
  "plugin",
  "cloudRequirements",
  "cloudManagedConfig",
  "legacyManagedConfigFile",
  "legacyManagedConfigMdm",
  "unknown",
]);
export type HookSource = Static<typeof HookSource>;

export const HookTrustStatus = enumeration("HookTrustStatus", [
  "managed",
  "untrusted",
  "trusted",
  "modified",
]);
export type HookTrustStatus = Static<typeof HookTrustStatus>;

export const HooksListEntry = object("HooksListEntry", () => ({
  cwd: string(),
  errors: array(HookErrorInfo),
  hooks: array(HookMetadata),
  warnings: array(string()),
}));
export type HooksListEntry = Static<typeof HooksListEntry>;

export const HooksListParams = object("HooksListParams", () => ({
  cwds: omittable(array(filePath())),
  threadId: optional(string()),
}));
export type HooksListParams = Static<typeof HooksListParams>;

export const HooksListResponse = object("HooksListResponse", () => ({ data: array(HooksListEntry) }));
export type HooksListResponse = Static<typeof HooksListResponse>;

export const ManagedHooksRequirements = object("ManagedHooksRequirements", () => ({
  Interrupt: array(ConfiguredHookMatcherGroup),
  PermissionRequest: array(ConfiguredHookMatcherGroup),
  PostCompact: array(ConfiguredHookMatcherGroup),
  PostModelRequest: array(ConfiguredHookMatcherGroup),
  PostToolUse: array(ConfiguredHookMatcherGroup),
  PreCompact: array(ConfiguredHookMatcherGroup),
  PreModelRequest: array(ConfiguredHookMatcherGroup),
  PreToolUse: array(ConfiguredHookMatcherGroup),
  SessionEnd: array(ConfiguredHookMatcherGroup),
  SessionStart: array(ConfiguredHookMatcherGroup),
  Stop: array(ConfiguredHookMatcherGroup),
  SubagentStart: array(ConfiguredHookMatcherGroup),
  SubagentStop: array(ConfiguredHookMatcherGroup),
  UserPromptSubmit: array(ConfiguredHookMatcherGroup),
  managedDir: nullable(string()),
  windowsManagedDir: nullable(string()),
}));
export type ManagedHooksRequirements = Static<typeof ManagedHooksRequirements>;
