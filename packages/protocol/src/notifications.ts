import { durable, live } from "./table-entry.ts";
import {
  AccountLoginCompletedNotification,
  AccountRateLimitsUpdatedNotification,
  AccountUpdatedNotification,
} from "./types/account.ts";
import {
  GuardianWarningNotification,
  ItemGuardianApprovalReviewCompletedNotification,
  ItemGuardianApprovalReviewStartedNotification,
} from "./types/auto-review.ts";
import { CommandExecOutputDeltaNotification } from "./types/command-exec.ts";
import {
  ExternalAgentConfigImportCompletedNotification,
  ExternalAgentConfigImportProgressNotification,
} from "./types/external-agent.ts";
import { FsChangedNotification } from "./types/fs.ts";
import {
  FuzzyFileSearchSessionCompletedNotification,
  FuzzyFileSearchSessionUpdatedNotification,
} from "./types/fuzzy-file-search.ts";
import {
  ConfigWarningNotification,
  DeprecationNoticeNotification,
  ErrorNotification,
  ServerRequestResolvedNotification,
  WarningNotification,
} from "./types/general-notification.ts";
import { ThreadGrantRevokedNotification } from "./types/grants.ts";
import { HookCompletedNotification, HookStartedNotification } from "./types/hook.ts";
import {
  AgentMessageDeltaNotification,
  CommandExecutionOutputDeltaNotification,
  FileChangeOutputDeltaNotification,
  ItemCompletedNotification,
  ItemStartedNotification,
  McpToolCallProgressNotification,
  PlanDeltaNotification,
  ReasoningSummaryPartAddedNotification,
  ReasoningSummaryTextDeltaNotification,
  ReasoningTextDeltaNotification,
  TerminalInteractionNotification,
} from "./types/item-notification.ts";
import { McpServerOauthLoginCompletedNotification, McpServerStatusUpdatedNotification } from "./types/mcp.ts";
import { ModelReroutedNotification } from "./types/model.ts";
import { ProcessExitedNotification, ProcessOutputDeltaNotification } from "./types/process.ts";
import { ThreadViewUpdatedNotification } from "./types/rap.ts";
import { RawResponseItemCompletedNotification } from "./types/raw-response.ts";
import { SkillsChangedNotification } from "./types/skill.ts";
import { ThreadGoalClearedNotification, ThreadGoalUpdatedNotification } from "./types/thread-goal.ts";
import {
  ContextCompactedNotification,
  ThreadArchivedNotification,
  ThreadClosedNotification,
  ThreadDeletedNotification,
  ThreadNameUpdatedNotification,
  ThreadReadStateChangedNotification,
  ThreadRevertedNotification,
  ThreadSectionChangedNotification,
  ThreadStartedNotification,
  ThreadStatusChangedNotification,
  ThreadTokenUsageUpdatedNotification,
  ThreadUnarchivedNotification,
} from "./types/thread-notification.ts";
import { ThreadQueueChangedNotification } from "./types/thread-queue.ts";
import { SectionListChangedNotification } from "./types/thread-section.ts";
import { ThreadSettingsUpdatedNotification } from "./types/thread-settings.ts";
import {
  TurnCompletedNotification,
  TurnDiffUpdatedNotification,
  TurnPlanUpdatedNotification,
  TurnStartedNotification,
} from "./types/turn.ts";
import { WindowsSandboxSetupCompletedNotification } from "./types/windows-sandbox.ts";

export const notifications = {
  "thread/started": live(ThreadStartedNotification),
  "thread/status/changed": durable(ThreadStatusChangedNotification),
  "thread/closed": durable(ThreadClosedNotification),
  "thread/archived": live(ThreadArchivedNotification),
  "thread/unarchived": live(ThreadUnarchivedNotification),
  "thread/deleted": live(ThreadDeletedNotification),
  "thread/name/updated": durable(ThreadNameUpdatedNotification),
  "thread/tokenUsage/updated": durable(ThreadTokenUsageUpdatedNotification),
  "thread/readState/changed": durable(ThreadReadStateChangedNotification, { stability: "experimental" }),
  "thread/reverted": durable(ThreadRevertedNotification),
  "thread/settings/updated": durable(ThreadSettingsUpdatedNotification),
  "thread/compacted": durable(ContextCompactedNotification),
  "thread/goal/updated": durable(ThreadGoalUpdatedNotification),
  "thread/goal/cleared": durable(ThreadGoalClearedNotification),
  "thread/section/changed": durable(ThreadSectionChangedNotification),
  "thread/queue/changed": durable(ThreadQueueChangedNotification),
  "turn/started": durable(TurnStartedNotification),
  "turn/completed": durable(TurnCompletedNotification),
  "turn/plan/updated": durable(TurnPlanUpdatedNotification),
  "turn/diff/updated": durable(TurnDiffUpdatedNotification),
  "item/started": durable(ItemStartedNotification),
  "item/completed": durable(ItemCompletedNotification),
  // The Codex CLI sends it, too, but leaves it out of its JSON Schema.
  "rawResponseItem/completed": live(RawResponseItemCompletedNotification, {
    stability: "experimental",
    ours: true,
  }),
  "item/autoApprovalReview/started": durable(ItemGuardianApprovalReviewStartedNotification),
  "item/autoApprovalReview/completed": durable(ItemGuardianApprovalReviewCompletedNotification),
  guardianWarning: durable(GuardianWarningNotification),
  "item/agentMessage/delta": live(AgentMessageDeltaNotification),
  "item/plan/delta": live(PlanDeltaNotification),
  "item/reasoning/summaryTextDelta": live(ReasoningSummaryTextDeltaNotification),
  "item/reasoning/summaryPartAdded": live(ReasoningSummaryPartAddedNotification),
  "item/reasoning/textDelta": live(ReasoningTextDeltaNotification),
  "item/mcpToolCall/progress": live(McpToolCallProgressNotification),
  "item/commandExecution/outputDelta": live(CommandExecutionOutputDeltaNotification),
  "item/commandExecution/terminalInteraction": durable(TerminalInteractionNotification),
  "item/fileChange/outputDelta": live(FileChangeOutputDeltaNotification),
  "hook/started": durable(HookStartedNotification),
  "hook/completed": durable(HookCompletedNotification),
  "model/rerouted": durable(ModelReroutedNotification),
  "account/login/completed": live(AccountLoginCompletedNotification),
  "account/rateLimits/updated": live(AccountRateLimitsUpdatedNotification),
  "account/updated": live(AccountUpdatedNotification),
  "serverRequest/resolved": durable(ServerRequestResolvedNotification),
  "mcpServer/startupStatus/updated": live(McpServerStatusUpdatedNotification),
  "mcpServer/oauthLogin/completed": live(McpServerOauthLoginCompletedNotification),
  warning: durable(WarningNotification),
  configWarning: live(ConfigWarningNotification),
  deprecationNotice: live(DeprecationNoticeNotification),
  error: durable(ErrorNotification),
  "skills/changed": live(SkillsChangedNotification),
  "command/exec/outputDelta": live(CommandExecOutputDeltaNotification),
  "process/outputDelta": live(ProcessOutputDeltaNotification),
  "process/exited": live(ProcessExitedNotification),
  "externalAgentConfig/import/progress": live(ExternalAgentConfigImportProgressNotification),
  "externalAgentConfig/import/completed": live(ExternalAgentConfigImportCompletedNotification),
  "windowsSandbox/setupCompleted": live(WindowsSandboxSetupCompletedNotification),
  "fs/changed": live(FsChangedNotification),
  "fuzzyFileSearch/sessionUpdated": live(FuzzyFileSearchSessionUpdatedNotification),
  "fuzzyFileSearch/sessionCompleted": live(FuzzyFileSearchSessionCompletedNotification),
  "thread/grants/revoked": durable(ThreadGrantRevokedNotification, { stability: "experimental", ours: true }),
  "threadSection/changed": live(SectionListChangedNotification, { stability: "experimental", ours: true }),
  "thread/view/updated": durable(ThreadViewUpdatedNotification, { stability: "experimental", ours: true }),
};
