import type { Notification } from "@bobbin/client";
import type { ThreadItem } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { type ExecEvent, JsonReport } from "./exec-json-report.ts";

const ids = { threadId: "t", turnId: "u" };
const started = (item: Partial<ThreadItem>) =>
  ({ method: "item/started", params: { ...ids, item, startedAtMs: 0 } }) as Notification;
const completed = (item: Partial<ThreadItem>) =>
  ({ method: "item/completed", params: { ...ids, item, completedAtMs: 0 } }) as Notification;
const ended = (turn: object) =>
  ({
    method: "turn/completed",
    params: { threadId: "t", turn: { items: [], error: null, ...turn } },
  }) as unknown as Notification;

function events(...notifications: Notification[]): ExecEvent[] {
  const told: ExecEvent[] = [];
  const report = new JsonReport((event) => told.push(event));
  for (const notification of notifications) report.notification(notification);
  return told;
}

const command = {
  type: "commandExecution",
  id: "c",
  command: "ls",
  aggregatedOutput: null,
  exitCode: null,
  status: "inProgress",
} as const;

it("gives an item one number from its start to its end", () => {
  const item = { id: "item_0", type: "command_execution", command: "ls" };
  expect(
    events(
      started(command),
      completed({ type: "agentMessage", id: "a", text: "hi" }),
      completed({ ...command, aggregatedOutput: "x", exitCode: 0, status: "completed" }),
    ),
  ).toEqual([
    {
      type: "item.started",
      item: { ...item, aggregated_output: "", exit_code: null, status: "in_progress" },
    },
    { type: "item.completed", item: { id: "item_1", type: "agent_message", text: "hi" } },
    { type: "item.completed", item: { ...item, aggregated_output: "x", exit_code: 0, status: "completed" } },
  ]);
});

it("completes what the turn's end finds open", () => {
  const told = events(
    started(command),
    ended({ status: "interrupted", items: [{ ...command, status: "failed" }] }),
  );
  expect(told.map(({ type }) => type)).toEqual(["item.started", "item.completed"]);
  expect(told[1]).toMatchObject({ item: { id: "item_0", status: "failed" } });
});

it("shows no item that the format does not know, and no empty reasoning", () => {
  expect(
    events(
      started({ type: "userMessage", id: "m", content: [] }),
      completed({ type: "userMessage", id: "m", content: [] }),
      started({ type: "reasoning", id: "r", summary: ["x"] }),
      completed({ type: "reasoning", id: "r", summary: [" "] }),
    ),
  ).toEqual([]);
});

it("shows a plan as one list that is updated, and completed with the turn", () => {
  const plan = (status: "pending" | "completed") =>
    ({
      method: "turn/plan/updated",
      params: { ...ids, explanation: null, plan: [{ step: "a", status }] },
    }) satisfies Notification;
  const list = (done: boolean) => ({
    id: "item_0",
    type: "todo_list",
    items: [{ text: "a", completed: done }],
  });
  expect(events(plan("pending"), plan("completed"), ended({ status: "interrupted" }))).toEqual([
    { type: "item.started", item: list(false) },
    { type: "item.updated", item: list(true) },
    { type: "item.completed", item: list(true) },
  ]);
});

it("tells why a turn failed, by its own error or else by the last one that was told", () => {
  const error = { message: "busy", additionalDetails: "503", codexErrorInfo: null, misalignment: null };
  const told = { method: "error", params: { ...ids, error, willRetry: false } } as const;
  const message = "busy (503)";
  expect(events(told, ended({ status: "failed" }))).toEqual([
    { type: "error", message },
    { type: "turn.failed", error: { message } },
  ]);
  expect(events(ended({ status: "failed", error }))).toEqual([{ type: "turn.failed", error: { message } }]);
  expect(events(ended({ status: "failed" }))).toEqual([
    { type: "turn.failed", error: { message: "the turn failed" } },
  ]);
});

it("shows warnings as items that end nothing", () => {
  expect(events({ method: "warning", params: { threadId: null, message: "careful" } })).toEqual([
    { type: "item.completed", item: { id: "item_0", type: "error", message: "careful" } },
  ]);
});
