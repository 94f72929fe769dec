import { global, method, NONE, sharedGlobal } from "../entry.ts";
import { HooksListParams, HooksListResponse } from "../types/hook.ts";
import { ListMcpServerStatusParams, ListMcpServerStatusResponse } from "../types/mcp.ts";
import { PermissionProfileListParams, PermissionProfileListResponse } from "../types/permission.ts";
import { PluginListParams, PluginListResponse } from "../types/plugin.ts";
import { RapServersListParams, RapServersListResponse } from "../types/rap.ts";
import {
  RulesListParams,
  RulesListResponse,
  RulesRevokeParams,
  RulesRevokeResponse,
} from "../types/rules.ts";
import { CollaborationModeListParams, CollaborationModeListResponse } from "../types/settings.ts";
import { SkillsListParams, SkillsListResponse } from "../types/skill.ts";

export const toolMethods = {
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
  "mcpServerStatus/list": method({
    params: ListMcpServerStatusParams,
    result: ListMcpServerStatusResponse,
    scope: global("mcp-registry"),
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
