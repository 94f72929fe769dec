import {
  array,
  boolean,
  enumeration,
  integer,
  object,
  omittable,
  optional,
  type Static,
  string,
} from "../schema.ts";

export const CommandMigration = object("CommandMigration", () => ({ name: string() }));
export type CommandMigration = Static<typeof CommandMigration>;

export const ExternalAgentConfigDetectParams = object("ExternalAgentConfigDetectParams", () => ({
  cwds: optional(array(string())),
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

export const ExternalAgentConfigImportParams = object("ExternalAgentConfigImportParams", () => ({
  migrationItems: array(ExternalAgentConfigMigrationItem),
  migrationSource: optional(string()),
  providerId: optional(string()),
  source: optional(string()),
}));
export type ExternalAgentConfigImportParams = Static<typeof ExternalAgentConfigImportParams>;

export const ExternalAgentConfigImportResponse = object("ExternalAgentConfigImportResponse", () => ({
  importId: string(),
}));
export type ExternalAgentConfigImportResponse = Static<typeof ExternalAgentConfigImportResponse>;

export const ExternalAgentConfigMigrationItem = object("ExternalAgentConfigMigrationItem", () => ({
  cwd: optional(string()),
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
  cwd: string(),
  path: string(),
  title: optional(string()),
}));
export type SessionMigration = Static<typeof SessionMigration>;

export const SkillMigration = object("SkillMigration", () => ({ name: string() }));
export type SkillMigration = Static<typeof SkillMigration>;

export const SubagentMigration = object("SubagentMigration", () => ({ name: string() }));
export type SubagentMigration = Static<typeof SubagentMigration>;
