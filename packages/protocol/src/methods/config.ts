import { global, method, sharedGlobal } from "../entry.ts";
import { nothing } from "../schema.ts";
import {
  ConfigBatchWriteParams,
  ConfigReadParams,
  ConfigReadResponse,
  ConfigValueWriteParams,
  ConfigWriteResponse,
} from "../types/config.ts";
import { ConfigRequirementsReadResponse } from "../types/config-requirements.ts";
import {
  ExternalAgentConfigDetectParams,
  ExternalAgentConfigDetectResponse,
  ExternalAgentConfigImportParams,
  ExternalAgentConfigImportResponse,
} from "../types/external-agent.ts";

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
};
