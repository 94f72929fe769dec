import type {
  GetAccountTokenUsageResponse,
  ModelUsage,
  ThreadUsage,
  TokenUsageBreakdown,
} from "@bobbin/protocol";
import type { ModelPrice, UsageSettings } from "../../config/usage-settings.ts";
import type { UsageRow } from "./usage-store.ts";

/** A thread's id, and the key of its rows. */
interface ThreadName {
  readonly id: string;
  readonly key: string;
}

type Prices = UsageSettings["prices"];

const totalOf = ({ inputTokens, outputTokens }: UsageRow): number => inputTokens + outputTokens;

/** Sums all rows for the reply to `account/usage/read`. `today` is a day in UTC. */
export function usageReport(
  rows: readonly UsageRow[],
  { prices }: Pick<UsageSettings, "prices">,
  at: { readonly today: string; readonly longestTurnMs: number; readonly thread: ThreadName | null },
): Omit<GetAccountTokenUsageResponse, "limit"> {
  const byDay = new Map<string, number>();
  for (const row of rows) byDay.set(row.day, (byDay.get(row.day) ?? 0) + totalOf(row));
  const days = [...byDay.keys()].sort();
  const { current, longest } = streaks(days, at.today);
  return {
    summary: {
      lifetimeTokens: rows.reduce((sum, row) => sum + totalOf(row), 0),
      peakDailyTokens: Math.max(0, ...byDay.values()),
      longestRunningTurnSec: Math.round(at.longestTurnMs / 1000),
      currentStreakDays: current,
      longestStreakDays: longest,
    },
    dailyUsageBuckets: days.map((startDate) => ({ startDate, tokens: byDay.get(startDate)! })),
    threadUsage: at.thread === null ? null : threadUsage(rows, prices, at.thread),
    models: modelUsage(rows, prices),
  };
}

/** Returns null for a thread without usage. */
function threadUsage(all: readonly UsageRow[], prices: Prices, { id, key }: ThreadName): ThreadUsage | null {
  const rows = all.filter((row) => row.thread === key);
  if (rows.length === 0) return null;
  const groups = grouped(rows, ({ model, effort }) => JSON.stringify([model, effort]));
  return {
    threadId: id,
    // Only OpenAI has credits.
    estimatedUsageCreditsMicros: 0,
    estimatedUsageUsdMicros: costOf(rows, prices),
    nativeUsageUsdMicros: null,
    groups: groups.map((group) => {
      const { inputTokens, cachedInputTokens, outputTokens } = sums(group);
      return {
        model: group[0]!.model,
        reasoningEffort: group[0]!.effort,
        speed: null,
        estimatedUsageCreditsMicros: 0,
        netNewInputTokens: inputTokens - cachedInputTokens,
        cachedInputTokens,
        inputTokens,
        outputTokens,
        totalTokens: inputTokens + outputTokens,
      };
    }),
  };
}

function modelUsage(rows: readonly UsageRow[], prices: Prices): ModelUsage[] {
  const groups = grouped(rows, ({ provider, model }) => JSON.stringify([provider, model]));
  return groups.map((group) => ({
    modelProvider: group[0]!.provider,
    model: group[0]!.model,
    ...sums(group),
    costUsdMicros: costOf(group, prices),
  }));
}

function grouped(rows: readonly UsageRow[], keyOf: (row: UsageRow) => string): UsageRow[][] {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

function sums(
  rows: readonly UsageRow[],
): Pick<ModelUsage, "inputTokens" | "cachedInputTokens" | "outputTokens"> {
  const sum = (of: (row: UsageRow) => number): number => rows.reduce((all, row) => all + of(row), 0);
  return {
    inputTokens: sum((row) => row.inputTokens),
    cachedInputTokens: sum((row) => row.cachedTokens),
    outputTokens: sum((row) => row.outputTokens),
  };
}

/** Returns the cost in millionths of a dollar; null if a model has no configured price. */
export function costOf(rows: readonly UsageRow[], prices: Prices): number | null {
  let cost = 0;
  for (const row of rows) {
    const price = prices.get(row.model);
    if (price === undefined) return null;
    cost += rowCost(row, price);
  }
  return Math.round(cost);
}

/** Returns the cost of one model call in millionths of a dollar; null if the model has no configured price. */
export function callCost(
  model: string,
  { inputTokens, cachedInputTokens: cachedTokens, outputTokens }: TokenUsageBreakdown,
  prices: Prices,
): number | null {
  const price = prices.get(model);
  return price === undefined ? null : Math.round(rowCost({ inputTokens, cachedTokens, outputTokens }, price));
}

type Tokens = Pick<UsageRow, "inputTokens" | "cachedTokens" | "outputTokens">;

/** A price of one dollar per million tokens is one millionth of a dollar per token. */
function rowCost({ inputTokens, cachedTokens, outputTokens }: Tokens, price: ModelPrice): number {
  return (
    (inputTokens - cachedTokens) * price.input +
    cachedTokens * price.cachedInput +
    outputTokens * price.output
  );
}

const DAY_MS = 24 * 3600 * 1000;

/** Returns the number of a day, so that consecutive days differ by one. */
function numberOf(day: string): number {
  // oxlint-disable-next-line no-restricted-globals -- it reads a text, not the clock
  return Math.round(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
}

/**
 * The lengths of runs of consecutive days with usage: of the current run, which ends today or yesterday, and of the
 * longest run.
 */
function streaks(days: readonly string[], today: string): { current: number; longest: number } {
  let longest = 0;
  let length = 0;
  let last = Number.NaN;
  for (const day of days.map(numberOf)) {
    length = day === last + 1 ? length + 1 : 1;
    longest = Math.max(longest, length);
    last = day;
  }
  return { current: numberOf(today) - last <= 1 ? length : 0, longest };
}
