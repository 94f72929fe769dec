import { nothing } from "../schema-language.ts";
import { global, method, sharedGlobal } from "../table-entry.ts";
import {
  ConfigBatchWriteParams,
  ConfigReadParams,
  ConfigReadResponse,
  ConfigValueWriteParams,
  ConfigWriteResponse,
} from "../types/config.ts";
import {
  ExperimentalFeatureEnablementSetParams,
  ExperimentalFeatureEnablementSetResponse,
  ExperimentalFeatureListParams,
  ExperimentalFeatureListResponse,
} from "../types/config-feature.ts";
import { ConfigRequirementsReadResponse } from "../types/config-requirements.ts";
import {
  ExternalAgentConfigDetectParams,
  ExternalAgentConfigDetectResponse,
  ExternalAgentConfigImportHistoriesReadResponse,
  ExternalAgentConfigImportHistoryRecordParams,
  ExternalAgentConfigImportHistoryRecordResponse,
  ExternalAgentConfigImportParams,
  ExternalAgentConfigImportResponse,
} from "../types/external-agent.ts";
import { McpServerRefreshResponse } from "../types/mcp.ts";

export const configMethods = {
  "config/read": method({
    params: ConfigReadParams,
    result: ConfigReadResponse,
    scope: sharedGlobal("config"),
    stability: "stable",
  }),
  "configRequirements/read": method({
    params: nothing(),
    result: ConfigRequirementsReadResponse,
    scope: sharedGlobal("config"),
    stability: "stable",
  }),
  "config/value/write": method({
    params: ConfigValueWriteParams,
    result: ConfigWriteResponse,
    scope: global("config"),
    stability: "stable",
  }),
  "config/batchWrite": method({
    params: ConfigBatchWriteParams,
    result: ConfigWriteResponse,
    scope: global("config"),
    stability: "stable",
  }),
  "experimentalFeature/list": method({
    params: ExperimentalFeatureListParams,
    result: ExperimentalFeatureListResponse,
    scope: global("config"),
    stability: "stable",
  }),
  "experimentalFeature/enablement/set": method({
    params: ExperimentalFeatureEnablementSetParams,
    result: ExperimentalFeatureEnablementSetResponse,
    scope: global("config"),
    stability: "stable",
  }),
  "config/mcpServer/reload": method({
    params: nothing(),
    result: McpServerRefreshResponse,
    scope: global("mcp-registry"),
    stability: "stable",
  }),
  "externalAgentConfig/detect": method({
    params: ExternalAgentConfigDetectParams,
    result: ExternalAgentConfigDetectResponse,
    scope: global("external-agent-detect"),
    stability: "stable",
  }),
  "externalAgentConfig/import": method({
    params: ExternalAgentConfigImportParams,
    result: ExternalAgentConfigImportResponse,
    scope: global("config"),
    stability: "stable",
  }),
  "externalAgentConfig/import/recordHistory": method({
    params: ExternalAgentConfigImportHistoryRecordParams,
    result: ExternalAgentConfigImportHistoryRecordResponse,
    scope: global("config"),
    stability: "stable",
  }),
  "externalAgentConfig/import/readHistories": method({
    params: nothing(),
    result: ExternalAgentConfigImportHistoriesReadResponse,
    scope: sharedGlobal("config"),
    stability: "stable",
  }),
};
