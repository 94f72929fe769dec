import { global, method, NONE, sharedGlobal } from "../table-entry.ts";
import { AppsListParams, AppsListResponse } from "../types/app.ts";
import { HooksListParams, HooksListResponse } from "../types/hook.ts";
import {
  ListMcpServerStatusParams,
  ListMcpServerStatusResponse,
  McpResourceReadParams,
  McpResourceReadResponse,
  McpServerOauthLoginParams,
  McpServerOauthLoginResponse,
  McpServerToolCallParams,
  McpServerToolCallResponse,
} from "../types/mcp.ts";
import { PermissionProfileListParams, PermissionProfileListResponse } from "../types/permission.ts";
import {
  PluginInstalledParams,
  PluginInstalledResponse,
  PluginListParams,
  PluginListResponse,
} from "../types/plugin.ts";
import {
  McpServerPromptGetParams,
  McpServerPromptGetResponse,
  McpServerPromptListParams,
  McpServerPromptListResponse,
  PromptsListParams,
  PromptsListResponse,
  PromptsReadParams,
  PromptsReadResponse,
} from "../types/prompt.ts";
import { RapServersListParams, RapServersListResponse } from "../types/rap.ts";
import {
  RulesListParams,
  RulesListResponse,
  RulesRevokeParams,
  RulesRevokeResponse,
} from "../types/rules.ts";
import { CollaborationModeListParams, CollaborationModeListResponse } from "../types/settings.ts";
import {
  SkillsConfigWriteParams,
  SkillsConfigWriteResponse,
  SkillsExtraRootsSetParams,
  SkillsExtraRootsSetResponse,
  SkillsListParams,
  SkillsListResponse,
} from "../types/skill.ts";

/** What extends an agent: skills, prompts, hooks, plugins, MCP and RAP servers, command rules, permission profiles and modes. */
export const extensionMethods = {
  "collaborationMode/list": method({
    params: CollaborationModeListParams,
    result: CollaborationModeListResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "permissionProfile/list": method({
    params: PermissionProfileListParams,
    result: PermissionProfileListResponse,
    scope: sharedGlobal("config"),
    stability: "stable",
  }),
  "skills/list": method({
    params: SkillsListParams,
    result: SkillsListResponse,
    scope: sharedGlobal("config"),
    stability: "stable",
  }),
  "skills/config/write": method({
    params: SkillsConfigWriteParams,
    result: SkillsConfigWriteResponse,
    scope: global("config"),
    stability: "stable",
  }),
  "skills/extraRoots/set": method({
    params: SkillsExtraRootsSetParams,
    result: SkillsExtraRootsSetResponse,
    scope: global("config"),
    stability: "stable",
  }),
  "prompts/list": method({
    params: PromptsListParams,
    result: PromptsListResponse,
    scope: sharedGlobal("config"),
    stability: "experimental",
    ours: true,
  }),
  "prompts/read": method({
    params: PromptsReadParams,
    result: PromptsReadResponse,
    scope: sharedGlobal("config"),
    stability: "experimental",
    ours: true,
  }),
  "hooks/list": method({
    params: HooksListParams,
    result: HooksListResponse,
    scope: sharedGlobal("config"),
    stability: "stable",
  }),
  "plugin/list": method({
    params: PluginListParams,
    result: PluginListResponse,
    scope: NONE,
    stability: "stable",
  }),
  "plugin/installed": method({
    params: PluginInstalledParams,
    result: PluginInstalledResponse,
    scope: NONE,
    stability: "stable",
  }),
  "app/list": method({
    params: AppsListParams,
    result: AppsListResponse,
    scope: NONE,
    stability: "stable",
  }),
  "mcpServerStatus/list": method({
    params: ListMcpServerStatusParams,
    result: ListMcpServerStatusResponse,
    scope: global("mcp-registry"),
    stability: "stable",
  }),
  "mcpServer/tool/call": method({
    params: McpServerToolCallParams,
    result: McpServerToolCallResponse,
    scope: NONE,
    stability: "stable",
  }),
  "mcpServer/resource/read": method({
    params: McpResourceReadParams,
    result: McpResourceReadResponse,
    scope: NONE,
    stability: "stable",
  }),
  "mcpServer/prompt/list": method({
    params: McpServerPromptListParams,
    result: McpServerPromptListResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
  "mcpServer/prompt/get": method({
    params: McpServerPromptGetParams,
    result: McpServerPromptGetResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
  "mcpServer/oauth/login": method({
    params: McpServerOauthLoginParams,
    result: McpServerOauthLoginResponse,
    scope: NONE,
    stability: "stable",
  }),
  "rap/servers/list": method({
    params: RapServersListParams,
    result: RapServersListResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
  "rules/list": method({
    params: RulesListParams,
    result: RulesListResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
  "rules/revoke": method({
    params: RulesRevokeParams,
    result: RulesRevokeResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
};
