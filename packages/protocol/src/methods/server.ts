import { global, method, NONE, sharedGlobal } from "../table-entry.ts";
import { ServerDiagnosticsParams, ServerDiagnosticsResponse } from "../types/diagnostics.ts";
import {
  FeedbackSaveParams,
  FeedbackSaveResponse,
  FeedbackUploadParams,
  FeedbackUploadResponse,
} from "../types/feedback.ts";
import { ServerHostsListParams, ServerHostsListResponse } from "../types/hosts-of-home.ts";
import { InitializeParams, InitializeResponse } from "../types/initialize.ts";
import {
  ModelListParams,
  ModelListResponse,
  ModelProviderCapabilitiesReadParams,
  ModelProviderCapabilitiesReadResponse,
} from "../types/model.ts";
import {
  ModelProviderConfigWriteParams,
  ModelProviderConfigWriteResponse,
  ModelProviderListParams,
  ModelProviderListResponse,
} from "../types/model-provider.ts";
import { ServerLogsReadParams, ServerLogsReadResponse } from "../types/server-logs.ts";
import { ServerSetupReadParams, ServerSetupReadResponse } from "../types/server-setup-report.ts";

export const serverMethods = {
  initialize: method({
    params: InitializeParams,
    result: InitializeResponse,
    scope: NONE,
    stability: "stable",
  }),
  "model/list": method({
    params: ModelListParams,
    result: ModelListResponse,
    scope: NONE,
    stability: "stable",
  }),
  "server/diagnostics": method({
    params: ServerDiagnosticsParams,
    result: ServerDiagnosticsResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "server/logs/read": method({
    params: ServerLogsReadParams,
    result: ServerLogsReadResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
  "server/hosts/list": method({
    params: ServerHostsListParams,
    result: ServerHostsListResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
  "server/setup/read": method({
    params: ServerSetupReadParams,
    result: ServerSetupReadResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
  "modelProvider/capabilities/read": method({
    params: ModelProviderCapabilitiesReadParams,
    result: ModelProviderCapabilitiesReadResponse,
    scope: NONE,
    stability: "stable",
  }),
  "modelProvider/list": method({
    params: ModelProviderListParams,
    result: ModelProviderListResponse,
    scope: sharedGlobal("config"),
    stability: "stable",
  }),
  "modelProvider/config/write": method({
    params: ModelProviderConfigWriteParams,
    result: ModelProviderConfigWriteResponse,
    scope: global("config"),
    stability: "stable",
  }),
  "feedback/save": method({
    params: FeedbackSaveParams,
    result: FeedbackSaveResponse,
    scope: NONE,
    stability: "stable",
  }),
  "feedback/upload": method({
    params: FeedbackUploadParams,
    result: FeedbackUploadResponse,
    scope: NONE,
    stability: "stable",
  }),
};
