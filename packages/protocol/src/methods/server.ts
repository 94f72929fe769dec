import { method, NONE } from "../entry.ts";
import { ServerDiagnosticsParams, ServerDiagnosticsResponse } from "../types/diagnostics.ts";
import { FeedbackUploadParams, FeedbackUploadResponse } from "../types/feedback.ts";
import { InitializeParams, InitializeResponse } from "../types/initialize.ts";
import {
  ModelListParams,
  ModelListResponse,
  ModelProviderCapabilitiesReadParams,
  ModelProviderCapabilitiesReadResponse,
} from "../types/model.ts";

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
  "modelProvider/capabilities/read": method({
    params: ModelProviderCapabilitiesReadParams,
    result: ModelProviderCapabilitiesReadResponse,
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
