import { integer, object, optional, type Static, string } from "../schema-language.ts";
import { cursor } from "./cursor.ts";
import { ThreadItem } from "./item.ts";

export const AgentMessageDeltaNotification = object("AgentMessageDeltaNotification", () => ({
  delta: string(),
  itemId: string(),
  threadId: string(),
  turnId: string(),
}));
export type AgentMessageDeltaNotification = Static<typeof AgentMessageDeltaNotification>;

export const CommandExecutionOutputDeltaNotification = object(
  "CommandExecutionOutputDeltaNotification",
  () => ({ delta: string(), itemId: string(), threadId: string(), turnId: string() }),
);
export type CommandExecutionOutputDeltaNotification = Static<typeof CommandExecutionOutputDeltaNotification>;

export const TerminalInteractionNotification = object("TerminalInteractionNotification", () => ({
  itemId: string(),
  processId: string(),
  stdin: string(),
  threadId: string(),
  turnId: string(),
}));
export type TerminalInteractionNotification = Static<typeof TerminalInteractionNotification>;

export const FileChangeOutputDeltaNotification = object("FileChangeOutputDeltaNotification", () => ({
  delta: string(),
  itemId: string(),
  threadId: string(),
  turnId: string(),
}));
export type FileChangeOutputDeltaNotification = Static<typeof FileChangeOutputDeltaNotification>;

export const ItemCompletedNotification = object("ItemCompletedNotification", () => ({
  completedAtMs: integer(),
  contentTokenCount: optional(integer("uint64")),
  item: ThreadItem,
  threadId: string(),
  turnId: string(),
  ...cursor(),
}));
export type ItemCompletedNotification = Static<typeof ItemCompletedNotification>;

export const ItemStartedNotification = object("ItemStartedNotification", () => ({
  item: ThreadItem,
  startedAtMs: integer(),
  threadId: string(),
  turnId: string(),
  ...cursor(),
}));
export type ItemStartedNotification = Static<typeof ItemStartedNotification>;

export const McpToolCallProgressNotification = object("McpToolCallProgressNotification", () => ({
  itemId: string(),
  message: string(),
  threadId: string(),
  turnId: string(),
}));
export type McpToolCallProgressNotification = Static<typeof McpToolCallProgressNotification>;

export const PlanDeltaNotification = object("PlanDeltaNotification", () => ({
  delta: string(),
  itemId: string(),
  threadId: string(),
  turnId: string(),
}));
export type PlanDeltaNotification = Static<typeof PlanDeltaNotification>;

export const ReasoningSummaryPartAddedNotification = object("ReasoningSummaryPartAddedNotification", () => ({
  itemId: string(),
  summaryIndex: integer(),
  threadId: string(),
  turnId: string(),
}));
export type ReasoningSummaryPartAddedNotification = Static<typeof ReasoningSummaryPartAddedNotification>;

export const ReasoningSummaryTextDeltaNotification = object("ReasoningSummaryTextDeltaNotification", () => ({
  delta: string(),
  itemId: string(),
  summaryIndex: integer(),
  threadId: string(),
  turnId: string(),
}));
export type ReasoningSummaryTextDeltaNotification = Static<typeof ReasoningSummaryTextDeltaNotification>;

export const ReasoningTextDeltaNotification = object("ReasoningTextDeltaNotification", () => ({
  contentIndex: integer(),
  delta: string(),
  itemId: string(),
  threadId: string(),
  turnId: string(),
}));
export type ReasoningTextDeltaNotification = Static<typeof ReasoningTextDeltaNotification>;
