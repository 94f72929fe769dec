import type { Result, TimelineSpan, TokenUsageBreakdown } from "@bobbin/protocol";
import { countText } from "../parts/quantity-text.ts";

export type TurnTimelineData = Result<"turn/timeline/read">;

export interface TimelineBar {
  readonly span: TimelineSpan;
  readonly durationMs: number;
  /** Percents of the whole width. */
  readonly left: number;
  readonly width: number;
}

/** Bars too short to see are this wide, in percent. */
const MIN_WIDTH = 0.5;

/** The rows of a timeline: failures first, then by time. Spans that still run end at `now`. */
export function timelineBars(
  { spans, startedAtMs, completedAtMs }: TurnTimelineData,
  now: number,
): TimelineBar[] {
  const ends = spans.map(({ endedAtMs, startedAtMs: start }) => endedAtMs ?? Math.max(start, now));
  const end = completedAtMs ?? Math.max(now, startedAtMs, ...ends);
  const whole = Math.max(1, end - startedAtMs);
  const percent = (ms: number) => Math.min(100, Math.max(0, (100 * ms) / whole));
  const bars = spans.map((span, nth) => {
    const durationMs = Math.max(0, ends[nth]! - span.startedAtMs);
    const left = Math.min(100 - MIN_WIDTH, percent(span.startedAtMs - startedAtMs));
    return { span, durationMs, left, width: Math.min(100 - left, Math.max(MIN_WIDTH, percent(durationMs))) };
  });
  const isFailed = ({ span }: TimelineBar) => Number(span.status === "failed");
  return bars.toSorted((one, other) => isFailed(other) - isFailed(one));
}

export function tokensText({ inputTokens, cachedInputTokens, outputTokens }: TokenUsageBreakdown): string {
  const cached = cachedInputTokens > 0 ? ` (${countText(cachedInputTokens)} cached)` : "";
  return `${countText(inputTokens)} tokens in${cached}, ${countText(outputTokens)} out`;
}

/** A cost in dollars, with two significant digits if it is small. */
export function costText(micros: number): string {
  const dollars = micros < 100_000 ? Number((micros / 1_000_000).toPrecision(2)) : micros / 1_000_000;
  if (dollars >= 0.1 || dollars === 0) return `$${dollars.toFixed(2)}`;
  const digits = Math.min(6, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toFixed(digits)}`;
}

/** What the turn cost, or why that is not known. Empty without tokens. */
export function turnCostText({ costUsdMicros, unpricedModels, usage }: TurnTimelineData): string {
  if (usage.totalTokens === 0) return "";
  const models = unpricedModels.map((model) => model || "the reviewer's model").join(", ");
  const missing = models === "" ? "" : `no price is set for ${models} (usage.prices)`;
  if (costUsdMicros === null) return missing;
  const cost = costText(costUsdMicros);
  return missing === "" ? cost : `at least ${cost}, ${missing}`;
}

/** The details of a row, besides its name and duration. */
export function detailText({ model, usage, costUsdMicros, problem }: TimelineSpan): string {
  const cost = costUsdMicros === null ? "" : costText(costUsdMicros);
  const parts = [model ?? "", usage ? tokensText(usage) : "", cost];
  return [problem ?? "", parts.filter((part) => part !== "").join(" · ")]
    .filter((text) => text !== "")
    .join(" · ");
}
