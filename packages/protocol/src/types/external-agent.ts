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
  type Static,
  string,
} from "../schema-language.ts";

export const CommandMigration = object("CommandMigration", () => ({ name: string() }));
export type CommandMigration = Static<typeof CommandMigration>;

export const ExternalAgentConfigDetectParams = object("ExternalAgentConfigDetectParams", () => ({
  cwds: optional(array(filePath())),
  includeHome: omittable(boolean()),
  maxSessionAgeDays: optional(integer("uint32")),
  maxSessions: optional(integer("uint32")),
  migrationSource: optional(string()),
  source: optional(string()),
}));
export type ExternalAgentConfigDetectParams = Static<typeof ExternalAgentConfigDetectParams>;

export const ExternalAgentConfigDetectResponse = object("ExternalAgentConfigDetectResponse", () => ({
  connectors: array(ExternalAgentDetectedConnectorCandidate),
  items: array(ExternalAgentConfigMigrationItem),
}));
export type ExternalAgentConfigDetectResponse = Static<typeof ExternalAgentConfigDetectResponse>;

export const ExternalAgentConfigImportCompletedNotification = object(
  "ExternalAgentConfigImportCompletedNotification",
  () => ({ importId: string(), itemTypeResults: array(ExternalAgentConfigImportTypeResult) }),
);
export type ExternalAgentConfigImportCompletedNotification = Static<
  typeof ExternalAgentConfigImportCompletedNotification
>;

export const ExternalAgentConfigImportHistoriesReadResponse = object(
  "ExternalAgentConfigImportHistoriesReadResponse",
  () => ({
    connectors: array(ExternalAgentImportedConnectorCandidate),
    data: array(ExternalAgentConfigImportHistory),
  }),
);
export type ExternalAgentConfigImportHistoriesReadResponse = Static<
  typeof ExternalAgentConfigImportHistoriesReadResponse
>;

export const ExternalAgentConfigImportHistory = object("ExternalAgentConfigImportHistory", () => ({
  completedAtMs: integer(),
  failures: array(ExternalAgentConfigImportItemTypeFailure),
  importId: string(),
  providerId: nullable(string()),
  successes: array(ExternalAgentConfigImportItemTypeSuccess),
}));
export type ExternalAgentConfigImportHistory = Static<typeof ExternalAgentConfigImportHistory>;

export const ExternalAgentConfigImportHistoryRecordParams = object(
  "ExternalAgentConfigImportHistoryRecordParams",
  () => ({
    itemTypeResults: array(ExternalAgentConfigImportHistoryRecordTypeResultParams),
    providerId: string(),
  }),
);
export type ExternalAgentConfigImportHistoryRecordParams = Static<
  typeof ExternalAgentConfigImportHistoryRecordParams
>;

export const ExternalAgentConfigImportHistoryRecordResponse = object(
  "ExternalAgentConfigImportHistoryRecordResponse",
  () => ({ importId: string() }),
);
export type ExternalAgentConfigImportHistoryRecordResponse = Static<
  typeof ExternalAgentConfigImportHistoryRecordResponse
>;

export const ExternalAgentConfigImportHistoryRecordSuccessParams = object(
  "ExternalAgentConfigImportHistoryRecordSuccessParams",
  () => ({
    cwd: optional(filePath()),
    itemType: ExternalAgentConfigMigrationItemType,
    source: optional(string()),
    target: optional(string()),
    title: optional(string()),
  }),
);
export type ExternalAgentConfigImportHistoryRecordSuccessParams = Static<
  typeof ExternalAgentConfigImportHistoryRecordSuccessParams
>;

export const ExternalAgentConfigImportHistoryRecordTypeResultParams = object(
  "ExternalAgentConfigImportHistoryRecordTypeResultParams",
  () => ({
    failures: array(ExternalAgentConfigImportItemTypeFailure),
    itemType: ExternalAgentConfigMigrationItemType,
    successes: array(ExternalAgentConfigImportHistoryRecordSuccessParams),
  }),
);
export type ExternalAgentConfigImportHistoryRecordTypeResultParams = Static<
  typeof ExternalAgentConfigImportHistoryRecordTypeResultParams
>;

export const ExternalAgentConfigImportItemTypeFailure = object(
  "ExternalAgentConfigImportItemTypeFailure",
  () => ({
    cwd: optional(filePath()),
    errorType: optional(string()),
    failureStage: string(),
    itemType: ExternalAgentConfigMigrationItemType,
    message: string(),
    source: optional(string()),
    subErrorType: optional(string()),
  }),
);
export type ExternalAgentConfigImportItemTypeFailure = Static<
  typeof ExternalAgentConfigImportItemTypeFailure
>;

export const ExternalAgentConfigImportItemTypeSuccess = object(
  "ExternalAgentConfigImportItemTypeSuccess",
  () => ({
    cwd: nullable(string()),
    itemType: ExternalAgentConfigMigrationItemType,
    source: nullable(string()),
    target: nullable(string()),
    title: nullable(string()),
  }),
);
export type ExternalAgentConfigImportItemTypeSuccess = Static<
  typeof ExternalAgentConfigImportItemTypeSuccess
>;

export const ExternalAgentConfigImportParams = object("ExternalAgentConfigImportParams", () => ({
  migrationItems: array(ExternalAgentConfigMigrationItem),
  migrationSource: optional(string()),
  providerId: optional(string()),
  source: optional(string()),
}));
export type ExternalAgentConfigImportParams = Static<typeof ExternalAgentConfigImportParams>;

export const ExternalAgentConfigImportProgressNotification = object(
  "ExternalAgentConfigImportProgressNotification",
  () => ({ importId: string(), itemTypeResults: array(ExternalAgentConfigImportTypeResult) }),
);
export type ExternalAgentConfigImportProgressNotification = Static<
  typeof ExternalAgentConfigImportProgressNotification
>;

export const ExternalAgentConfigImportResponse = object("ExternalAgentConfigImportResponse", () => ({
  importId: string(),
}));
export type ExternalAgentConfigImportResponse = Static<typeof ExternalAgentConfigImportResponse>;

export const ExternalAgentConfigImportTypeResult = object("ExternalAgentConfigImportTypeResult", () => ({
  failures: array(ExternalAgentConfigImportItemTypeFailure),
  itemType: ExternalAgentConfigMigrationItemType,
  successes: array(ExternalAgentConfigImportItemTypeSuccess),
}));
export type ExternalAgentConfigImportTypeResult = Static<typeof ExternalAgentConfigImportTypeResult>;

export const ExternalAgentConfigMigrationItem = object("ExternalAgentConfigMigrationItem", () => ({
  cwd: optional(filePath()),
  description: string(),
  details: optional(MigrationDetails),
  itemType: ExternalAgentConfigMigrationItemType,
}));
export type ExternalAgentConfigMigrationItem = Static<typeof ExternalAgentConfigMigrationItem>;

export const ExternalAgentConfigMigrationItemType = enumeration("ExternalAgentConfigMigrationItemType", [
  "AGENTS_MD",
  "CONFIG",
  "SKILLS",
  "PLUGINS",
  "MCP_SERVER_CONFIG",
  "SUBAGENTS",
  "HOOKS",
  "COMMANDS",
  "MEMORY",
  "SESSIONS",
]);
export type ExternalAgentConfigMigrationItemType = Static<typeof ExternalAgentConfigMigrationItemType>;

export const ExternalAgentDetectedConnectorCandidate = object(
  "ExternalAgentDetectedConnectorCandidate",
  () => ({ name: string(), sessionCount: integer("uint32"), source: ExternalAgentDetectedConnectorSource }),
);
export type ExternalAgentDetectedConnectorCandidate = Static<typeof ExternalAgentDetectedConnectorCandidate>;

export const ExternalAgentDetectedConnectorSource = enumeration("ExternalAgentDetectedConnectorSource", [
  "remoteMcpServersConfig",
  "sessionToolUse",
]);
export type ExternalAgentDetectedConnectorSource = Static<typeof ExternalAgentDetectedConnectorSource>;

export const ExternalAgentImportedConnectorCandidate = object(
  "ExternalAgentImportedConnectorCandidate",
  () => ({ name: string(), sessionCount: integer("uint32"), source: ExternalAgentImportedConnectorSource }),
);
export type ExternalAgentImportedConnectorCandidate = Static<typeof ExternalAgentImportedConnectorCandidate>;

export const ExternalAgentImportedConnectorSource = enumeration("ExternalAgentImportedConnectorSource", [
  "remoteMcpServersConfig",
]);
export type ExternalAgentImportedConnectorSource = Static<typeof ExternalAgentImportedConnectorSource>;

export const HookMigration = object("HookMigration", () => ({ name: string() }));
export type HookMigration = Static<typeof HookMigration>;

export const McpServerMigration = object("McpServerMigration", () => ({ name: string() }));
export type McpServerMigration = Static<typeof McpServerMigration>;

export const MigrationDetails = object("MigrationDetails", () => ({
  commands: omittable(array(CommandMigration)),
  hooks: omittable(array(HookMigration)),
  mcpServers: omittable(array(McpServerMigration)),
  memory: omittable(array(string())),
  plugins: omittable(array(PluginsMigration)),
  sessions: omittable(array(SessionMigration)),
  skills: omittable(array(SkillMigration)),
  subagents: omittable(array(SubagentMigration)),
}));
export type MigrationDetails = Static<typeof MigrationDetails>;

export const PluginsMigration = object("PluginsMigration", () => ({
  marketplaceName: string(),
  pluginNames: array(string()),
}));
export type PluginsMigration = Static<typeof PluginsMigration>;

export const SessionMigration = object("SessionMigration", () => ({
  cwd: filePath(),
  path: filePath(),
  title: optional(string()),
}));
export type SessionMigration = Static<typeof SessionMigration>;

export const SkillMigration = object("SkillMigration", () => ({ name: string() }));
export type SkillMigration = Static<typeof SkillMigration>;

export const SubagentMigration = object("SubagentMigration", () => ({ name: string() }));
export type SubagentMigration = Static<typeof SubagentMigration>;
