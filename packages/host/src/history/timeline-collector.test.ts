import type { TokenUsageBreakdown } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import type { ThreadRecord } from "../core/records.ts";
import { TimelineCollector } from "./timeline-collector.ts";

const turnId = "t";
const last: TokenUsageBreakdown = {
  totalTokens: 12,
  inputTokens: 10,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 2,
  reasoningOutputTokens: 0,
};

const started = { type: "turnStarted", turnId, at: 1000, input: [], outputSchema: null };
const sample = (attempt = 1) => ({ type: "sampleRequested", turnId, attempt });
const usage = { type: "usageReported", turnId, usage: { last, total: last, modelContextWindow: null } };
const error = { message: "the stream broke off", codexErrorInfo: null, additionalDetails: null };
const called = (at: number, name = "look", callId = "c") => ({
  type: "toolCalled",
  turnId,
  at,
  call: { callId, name, namespace: null, arguments: "{}", kind: "function" },
});
const answered = (at: number, success = true, callId = "c") => ({
  type: "toolAnswered",
  turnId,
  at,
  callId,
  output: "no such thing",
  success,
});
const ended = (at: number, status = "completed") => ({
  type: "turnEnded",
  turnId,
  startedAt: 1000,
  at,
  status,
  error: status === "failed" ? error : null,
  answer: null,
});

function timeline(...commits: readonly object[][]): TimelineCollector {
  const spans = new TimelineCollector(turnId, "a-model");
  for (const records of commits) spans.take({ records: records as ThreadRecord[] });
  return spans;
}

const rows = ({ spans }: TimelineCollector) =>
  spans.map(({ kind, label, startedAtMs, endedAtMs, status }) => [
    kind,
    label,
    startedAtMs,
    endedAtMs,
    status,
  ]);

describe("the spans of a turn", () => {
  it("have a failed call, the wait before the next one, and that one", () => {
    const retrying = { type: "retrying", turnId, at: 1200, until: 1700, retry: 1, of: 5, error };
    const answer = { type: "agentMessage", id: "m", text: "", startedAtMs: 1800, completedAtMs: 1900 };
    const spans = timeline(
      [started, sample()],
      [sample(2), retrying],
      [{ type: "itemCompleted", turnId, at: 1900, item: answer }, usage, ended(1900)],
    );
    expect(rows(spans)).toEqual([
      ["model", "Model", 1000, 1200, "failed"],
      ["model", "Model", 1700, 1900, "completed"],
      ["wait", "Retry 1 of 5", 1200, 1700, "completed"],
    ]);
    expect(spans.spans[0]!.problem).toBe("the stream broke off");
    expect(spans.spans[1]!.usage).toEqual(last);
    expect([spans.status, spans.completedAtMs]).toEqual(["completed", 1900]);
  });

  it("have a tool from its dispatch on, and the wait for its result", () => {
    const dispatched = { type: "toolDispatched", turnId, at: 3000, callId: "c", again: false };
    const waiting = { type: "toolWaiting", turnId, at: 3100, callId: "c", until: null };
    const before = timeline([started, sample()], [called(1500), usage], [dispatched], [waiting]);
    expect(rows(before)).toEqual([
      ["model", "Model", 1000, 1500, "completed"],
      ["tool", "look", 3000, null, "inProgress"],
      ["wait", "Waiting for look", 3100, null, "inProgress"],
    ]);
    before.take({ records: [answered(4000, false), sample(2)] as ThreadRecord[] });
    expect(rows(before).slice(1)).toEqual([
      ["tool", "look", 3000, 4000, "failed"],
      ["wait", "Waiting for look", 3100, 4000, "completed"],
      ["model", "Model", 4000, null, "inProgress"],
    ]);
    expect(before.spans[1]!.problem).toBe("no such thing");
  });

  it("have questions with their answers, and the model that was chosen or answered", () => {
    const ask = { id: 7, at: 2000, turnId, callId: "c", method: "item/tool/requestUserInput", params: {} };
    const chosen = { type: "turnSettingsChanged", turnId, at: 2100, changes: { model: "chosen" } };
    const rerouted = { type: "modelRerouted", turnId, at: 2700, from: "chosen", to: "other" };
    const spans = timeline(
      [started, sample()],
      [called(1500), usage],
      [{ type: "requestSent", request: ask }, chosen],
      [{ type: "requestResolved", at: 2500, requestId: 7, answer: { kind: "expired" } }],
      [answered(2600), sample(2)],
      [rerouted, usage],
    );
    expect(rows(spans).slice(2)).toEqual([
      ["question", "Question to the user", 2000, 2500, "failed"],
      ["model", "Model", 2600, 2700, "completed"],
    ]);
    expect(spans.usage.map(({ model }) => model)).toEqual(["a-model", "other"]);
  });

  it("end with their turn: the model call with its error, others interrupted", () => {
    const failed = timeline([started, sample()], [called(1500)], [ended(1600, "failed")]);
    expect(rows(failed)).toEqual([
      ["model", "Model", 1000, 1600, "failed"],
      ["tool", "look", 1500, 1600, "interrupted"],
    ]);
    // What comes after the turn is not of it.
    failed.take({ records: [called(1700, "late", "d")] as ThreadRecord[] });
    expect(failed.spans).toHaveLength(2);
  });

  it("are at most 1000; those that succeeded are left out, oldest first", () => {
    const calls = Array.from({ length: 1500 }, (_, nth) => [
      called(2000 + nth, `tool ${nth}`, `c${nth}`),
      answered(2000 + nth, nth !== 3, `c${nth}`),
    ]);
    const spans = timeline([started], ...calls);
    expect([spans.spans.length, spans.omitted]).toEqual([1000, 500]);
    expect(spans.spans[0]).toMatchObject({ label: "tool 3", status: "failed" });
    expect(spans.spans.at(-1)!.label).toBe("tool 1499");
  });
});
