// Types of methods that only older clients use. The Codex CLI serves these methods, but omits them from its generated
// schema.
import { boolean, filePath, nullable, object, optional, type Static, string } from "../schema-language.ts";
import { AuthMode } from "./account.ts";
import { SessionSource } from "./thread.ts";

/** Names a thread by its id or by the path of its journal. */
export const GetConversationSummaryParams = object("GetConversationSummaryParams", () => ({
  conversationId: optional(string()),
  rolloutPath: optional(filePath()),
}));
export type GetConversationSummaryParams = Static<typeof GetConversationSummaryParams>;

export const ConversationGitInfo = object("ConversationGitInfo", () => ({
  branch: nullable(string()),
  origin_url: nullable(string()),
  sha: nullable(string()),
}));
export type ConversationGitInfo = Static<typeof ConversationGitInfo>;

export const ConversationSummary = object("ConversationSummary", () => ({
  cliVersion: string(),
  conversationId: string(),
  cwd: string(),
  gitInfo: nullable(ConversationGitInfo),
  modelProvider: string(),
  path: string(),
  preview: string(),
  source: SessionSource,
  timestamp: nullable(string()),
  updatedAt: nullable(string()),
}));
export type ConversationSummary = Static<typeof ConversationSummary>;

export const GetConversationSummaryResponse = object("GetConversationSummaryResponse", () => ({
  summary: ConversationSummary,
}));
export type GetConversationSummaryResponse = Static<typeof GetConversationSummaryResponse>;

export const GetAuthStatusParams = object("GetAuthStatusParams", () => ({
  includeToken: optional(boolean()),
  refreshToken: optional(boolean()),
}));
export type GetAuthStatusParams = Static<typeof GetAuthStatusParams>;

export const GetAuthStatusResponse = object("GetAuthStatusResponse", () => ({
  authMethod: nullable(AuthMode),
  authToken: nullable(string()),
  requiresOpenaiAuth: nullable(boolean()),
}));
export type GetAuthStatusResponse = Static<typeof GetAuthStatusResponse>;

export const GitDiffToRemoteParams = object("GitDiffToRemoteParams", () => ({ cwd: filePath() }));
export type GitDiffToRemoteParams = Static<typeof GitDiffToRemoteParams>;

export const GitDiffToRemoteResponse = object("GitDiffToRemoteResponse", () => ({
  diff: string(),
  sha: string(),
}));
export type GitDiffToRemoteResponse = Static<typeof GitDiffToRemoteResponse>;
