import { nothing } from "../schema-language.ts";
import { global, method, NONE } from "../table-entry.ts";
import {
  GetAuthStatusParams,
  GetAuthStatusResponse,
  GetConversationSummaryParams,
  GetConversationSummaryResponse,
  GitDiffToRemoteParams,
  GitDiffToRemoteResponse,
} from "../types/legacy.ts";
import {
  WindowsSandboxReadinessResponse,
  WindowsSandboxSetupStartParams,
  WindowsSandboxSetupStartResponse,
} from "../types/windows-sandbox.ts";

/** Methods that only older clients use, and the setup of the Windows sandbox. */
export const legacyMethods = {
  // The Codex CLI serves the first three methods, too, but omits them from its generated schema, so they are `ours`.
  getConversationSummary: method({
    params: GetConversationSummaryParams,
    result: GetConversationSummaryResponse,
    scope: NONE,
    stability: "stable",
    ours: true,
  }),
  getAuthStatus: method({
    params: GetAuthStatusParams,
    result: GetAuthStatusResponse,
    scope: global("account-auth"),
    stability: "stable",
    ours: true,
  }),
  gitDiffToRemote: method({
    params: GitDiffToRemoteParams,
    result: GitDiffToRemoteResponse,
    scope: NONE,
    stability: "stable",
    ours: true,
  }),
  "windowsSandbox/setupStart": method({
    params: WindowsSandboxSetupStartParams,
    result: WindowsSandboxSetupStartResponse,
    scope: NONE,
    stability: "stable",
  }),
  "windowsSandbox/readiness": method({
    params: nothing(),
    result: WindowsSandboxReadinessResponse,
    scope: NONE,
    stability: "stable",
  }),
};
