import {
  array,
  boolean,
  enumeration,
  experimental,
  inline,
  integer,
  nullable,
  object,
  type Static,
  string,
  tagged,
  union,
} from "../schema-language.ts";
import { ThreadEnvironment } from "./environment.ts";
import { ReasoningEffort, ThreadHistoryMode } from "./settings.ts";
import { ThreadSection } from "./thread-section.ts";
import { LoadSettings } from "./thread-unload.ts";
import { Turn } from "./turn.ts";

export const GitInfo = object("GitInfo", () => ({
  branch: nullable(string()),
  originUrl: nullable(string()),
  sha: nullable(string()),
}));
export type GitInfo = Static<typeof GitInfo>;

export const SessionSource = union("SessionSource", () => [
  enumeration("", ["cli", "vscode", "exec", "appServer", "unknown"]),
  inline(() => ({ custom: string() })),
  inline(() => ({ subAgent: SubAgentSource })),
]);
export type SessionSource = Static<typeof SessionSource>;

export const SubAgentSource = union("SubAgentSource", () => [
  enumeration("", ["review", "compact", "memory_consolidation"]),
  inline(() => ({
    thread_spawn: inline(() => ({
      agent_nickname: nullable(string()),
      agent_path: nullable(string()),
      agent_role: nullable(string()),
      depth: integer("int32"),
      parent_thread_id: string(),
    })),
  })),
  inline(() => ({ other: string() })),
]);
export type SubAgentSource = Static<typeof SubAgentSource>;

export const Thread = object("Thread", () => ({
  agentNickname: nullable(string()),
  agentRole: nullable(string()),
  attachedToThreadId: experimental(string()),
  canAcceptDirectInput: experimental(boolean()),
  cliVersion: string(),
  createdAt: integer(),
  cwd: string(),
  daybreakEnabled: experimental(boolean()),
  environments: experimental(array(ThreadEnvironment)),
  ephemeral: boolean(),
  extra: experimental(ThreadExtra),
  forkedFromId: nullable(string()),
  gitInfo: nullable(GitInfo),
  historyMode: ThreadHistoryMode,
  id: string(),
  model: nullable(string()),
  modelProvider: string(),
  name: nullable(string()),
  originator: nullable(string()),
  parentThreadId: nullable(string()),
  path: nullable(string()),
  preview: string(),
  projectId: nullable(string()),
  reasoningEffort: nullable(ReasoningEffort),
  recencyAt: nullable(integer()),
  section: nullable(ThreadSection),
  sectionEnteredAt: nullable(integer()),
  sessionId: string(),
  source: SessionSource,
  status: ThreadStatus,
  threadSource: nullable(string()),
  turns: array(Turn),
  updatedAt: integer(),
  pendingLoadSettings: experimental(LoadSettings, { ours: true }),
  /** Id of another host on the same home directory that has the thread loaded. `status` is still this host's view. */
  heldBy: experimental(string(), { ours: true }),
  /** Whose thread it is: `local` for the host's own user, `subject:NAME` for a subject. Only the host's own user gets it. */
  owner: experimental(string(), { ours: true }),
}));
export type Thread = Static<typeof Thread>;

export const ThreadActiveFlag = enumeration("ThreadActiveFlag", ["waitingOnApproval", "waitingOnUserInput"]);
export type ThreadActiveFlag = Static<typeof ThreadActiveFlag>;

export const ThreadExtra = object("ThreadExtra", () => ({}));
export type ThreadExtra = Static<typeof ThreadExtra>;

export const ThreadReadState = object("ThreadReadState", () => ({
  firstUnread: nullable(ThreadUnreadPosition),
  revision: string(),
}));
export type ThreadReadState = Static<typeof ThreadReadState>;

export const ThreadStatus = tagged("ThreadStatus", "type", () => ({
  notLoaded: {},
  idle: {},
  systemError: {},
  active: { activeFlags: array(ThreadActiveFlag) },
}));
export type ThreadStatus = Static<typeof ThreadStatus>;

export const ThreadUnreadPosition = tagged("ThreadUnreadPosition", "type", () => ({
  threadStart: {},
  turn: { turnId: string() },
}));
export type ThreadUnreadPosition = Static<typeof ThreadUnreadPosition>;
