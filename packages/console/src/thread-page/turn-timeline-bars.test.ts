import type { TimelineSpan } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import {
  costText,
  detailText,
  type TurnTimelineData,
  timelineBars,
  turnCostText,
} from "./turn-timeline-bars.ts";

const usage = {
  totalTokens: 1220,
  inputTokens: 1200,
  cachedInputTokens: 200,
  cacheWriteInputTokens: 0,
  outputTokens: 20,
  reasoningOutputTokens: 0,
};
const span = (
  id: string,
  startedAtMs: number,
  endedAtMs: number | null,
  more: object = {},
): TimelineSpan => ({
  id,
  kind: "tool",
  label: id,
  model: null,
  problem: null,
  usage: null,
  costUsdMicros: null,
  startedAtMs,
  endedAtMs,
  status: endedAtMs === null ? "inProgress" : "completed",
  ...more,
});
const turn = (spans: TimelineSpan[], more: object = {}): TurnTimelineData => ({
  turnId: "t",
  status: "inProgress",
  startedAtMs: 1000,
  completedAtMs: null,
  spans,
  omittedSpans: 0,
  usage,
  costUsdMicros: null,
  unpricedModels: [],
  ...more,
});

describe("a timeline", () => {
  it("has failures first, and grows with what still runs", () => {
    const spans = [span("a", 1000, 1500), span("b", 1500, 1600, { status: "failed" }), span("c", 1600, null)];
    const rows = timelineBars(turn(spans), 2000).map((bar) => [
      bar.span.id,
      bar.durationMs,
      bar.left,
      bar.width,
    ]);
    expect(rows).toEqual([
      ["b", 100, 50, 10],
      ["a", 500, 0, 50],
      ["c", 400, 60, 40],
    ]);
    // The clock of the browser may be behind that of the host.
    const [late] = timelineBars(turn([span("c", 1600, null)]), 0);
    expect([late!.durationMs, late!.left + late!.width]).toEqual([0, 100]);
  });

  it("has dollars with two digits that count", () => {
    expect([0, 4, 39, 780, 12_345, 99_999, 1_234_567].map(costText)).toEqual([
      "$0.00",
      "$0.000004",
      "$0.000039",
      "$0.00078",
      "$0.012",
      "$0.10",
      "$1.23",
    ]);
  });

  it("says what a turn cost, as far as prices are set", () => {
    expect(turnCostText(turn([], { costUsdMicros: 780 }))).toBe("$0.00078");
    expect(turnCostText(turn([], { unpricedModels: ["m"] }))).toBe("no price is set for m (usage.prices)");
    expect(turnCostText(turn([], { costUsdMicros: 780, unpricedModels: ["m", ""] }))).toBe(
      "at least $0.00078, no price is set for m, the reviewer's model (usage.prices)",
    );
    expect(turnCostText(turn([], { usage: { ...usage, totalTokens: 0 } }))).toBe("");
  });

  it("says why something failed, and what a model call used", () => {
    expect(detailText(span("a", 1, 2, { problem: "Exit code 3." }))).toBe("Exit code 3.");
    expect(detailText(span("a", 1, 2, { model: "m", usage, costUsdMicros: 780 }))).toBe(
      "m · 1.2k tokens in (200 cached), 20 out · $0.00078",
    );
  });
});
