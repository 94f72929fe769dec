import { createHash } from "node:crypto";
import type { RateLimitSnapshot, TokenUsageBreakdown } from "@bobbin/protocol";
import type { UsageSettings } from "../../config/usage-settings.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import { EMPTY_SNAPSHOT } from "../../model/rate-limit-parser.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Cancel, Clock, Timers } from "../../platform/platform.ts";
import { costOf, usageReport } from "./usage-report.ts";
import { type UsageStore, UsageSums } from "./usage-store.ts";

export interface UsagePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly supervisor: Supervisor;
  readonly store: UsageStore;
  /** The current settings. */
  settings(): UsageSettings;
  /** Called when the used share of a configured limit changes. */
  limitChanged(snapshot: RateLimitSnapshot): void;
}

const FLUSH_MS = 200;
const DAY_MINUTES = 24 * 60;
const DAY_SECONDS = DAY_MINUTES * 60;

/** The ID of the host's own limit, among the rate limits that providers report. */
const LIMIT_ID = "bobbin_daily";

/**
 * Sums the tokens of model calls by thread, day and model. The sums are written shortly after the call is recorded.
 * If the host is killed in between, that call is not counted.
 */
export class UsageLedger {
  readonly #ports: UsagePorts;
  #waiting = new UsageSums();
  #cancelFlush: Cancel | undefined;
  #writing: Promise<void> = Promise.resolve();
  #lastPercent: number | undefined;

  constructor(ports: UsagePorts) {
    this.#ports = ports;
  }

  /** Observes each commit. */
  committed({ records }: Commit, state: ThreadState): void {
    for (const record of records) {
      if (record.type === "turnEnded")
        this.#waiting.longestTurnMs = Math.max(this.#waiting.longestTurnMs, record.at - record.startedAt);
      const spent = spentIn(record);
      if (spent === undefined || spent.inputTokens + spent.outputTokens === 0) continue;
      const { model, modelProvider: provider, effort } = state.settings;
      this.#waiting.add({
        day: this.#today(),
        thread: threadKey(state.facts.id),
        provider,
        model,
        effort,
        inputTokens: spent.inputTokens,
        cachedTokens: Math.min(spent.cachedInputTokens, spent.inputTokens),
        outputTokens: spent.outputTokens,
      });
    }
    if (this.#waiting.isEmpty || this.#cancelFlush !== undefined) return;
    this.#cancelFlush = this.#ports.timers.after(FLUSH_MS, () => {
      this.#cancelFlush = undefined;
      this.#ports.supervisor.take("counting what models have used", this.#afterAnswer());
    });
  }

  async read(threadId: string | null): Promise<ReturnType<typeof usageReport> & { limit: Limit | null }> {
    await this.#flush();
    const { store, settings } = this.#ports;
    const [rows, longestTurnMs] = await Promise.all([store.rows(), store.longestTurnMs()]);
    const thread = threadId === null ? null : { id: threadId, key: threadKey(threadId) };
    const report = usageReport(rows, settings(), { today: this.#today(), longestTurnMs, thread });
    return { ...report, limit: await this.limit() };
  }

  /** Returns the configured limit and today's use; null if no limit is configured. */
  async limit(): Promise<Limit | null> {
    const { dailyTokens, dailyCostUsd, prices } = this.#ports.settings();
    if (dailyTokens === null && dailyCostUsd === null) return null;
    await this.#flush();
    const rows = await this.#ports.store.of(this.#today());
    const usedTokens = rows.reduce((sum, row) => sum + row.inputTokens + row.outputTokens, 0);
    // Models without a configured price do not count.
    const usedCostUsdMicros = costOf(
      rows.filter(({ model }) => prices.has(model)),
      prices,
    )!;
    return {
      dailyTokens,
      dailyCostUsdMicros: dailyCostUsd === null ? null : Math.round(dailyCostUsd * 1_000_000),
      usedTokens,
      usedCostUsdMicros,
      resetsAt: this.#nextDay(),
    };
  }

  /** Returns why no model may be called, as a text for people; undefined if the limit is not reached. */
  async problem(): Promise<string | undefined> {
    const limit = await this.limit();
    if (limit === null || shareOf(limit) < 1) return undefined;
    return (
      "The daily limit of this host is reached ([usage] in config.toml): " +
      `${limit.usedTokens} tokens are used. It counts anew at 00:00 UTC.`
    );
  }

  async snapshot(): Promise<RateLimitSnapshot | undefined> {
    const limit = await this.limit();
    if (limit === null) return undefined;
    const usedPercent = Math.min(100, Math.floor(shareOf(limit) * 100));
    return {
      ...EMPTY_SNAPSHOT,
      limitId: LIMIT_ID,
      limitName: "Daily limit of this host",
      primary: { usedPercent, windowDurationMins: DAY_MINUTES, resetsAt: limit.resetsAt },
      ...(usedPercent >= 100 && { rateLimitReachedType: "rate_limit_reached" as const }),
    };
  }

  /** Writes the pending sums. Idempotent. */
  async close(): Promise<void> {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    await this.#flush().catch((cause: unknown) =>
      this.#ports.supervisor.report("counting what models have used", cause),
    );
    await this.#ports.store.close();
  }

  async #afterAnswer(): Promise<void> {
    await this.#flush();
    const snapshot = await this.snapshot();
    const percent = snapshot?.primary?.usedPercent;
    if (snapshot === undefined || percent === this.#lastPercent) return;
    this.#lastPercent = percent;
    this.#ports.limitChanged(snapshot);
  }

  #flush(): Promise<void> {
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => {});
    return written;
  }

  async #write(): Promise<void> {
    const some = this.#waiting;
    if (some.isEmpty) return;
    this.#waiting = new UsageSums();
    try {
      await this.#ports.store.add(some.rows(), some.longestTurnMs);
    } catch (cause) {
      // The sums that could not be written are added to the waiting ones, so that the next attempt writes them.
      for (const row of some.rows()) this.#waiting.add(row);
      this.#waiting.longestTurnMs = Math.max(this.#waiting.longestTurnMs, some.longestTurnMs);
      throw cause;
    }
  }

  #today(): string {
    // oxlint-disable-next-line no-restricted-globals -- a conversion, not the clock
    return new Date(this.#ports.clock.now()).toISOString().slice(0, 10);
  }

  /** Start of the next day, in seconds since the epoch. */
  #nextDay(): number {
    const now = Math.floor(this.#ports.clock.now() / 1000);
    return now - (now % DAY_SECONDS) + DAY_SECONDS;
  }
}

interface Limit {
  readonly dailyTokens: number | null;
  readonly dailyCostUsdMicros: number | null;
  readonly usedTokens: number;
  readonly usedCostUsdMicros: number;
  readonly resetsAt: number;
}

/** The used share of the limit; 1 if it is reached. If there are two limits, the larger share. */
function shareOf({ dailyTokens, dailyCostUsdMicros, usedTokens, usedCostUsdMicros }: Limit): number {
  return Math.max(
    dailyTokens === null ? 0 : usedTokens / dailyTokens,
    dailyCostUsdMicros === null ? 0 : usedCostUsdMicros / dailyCostUsdMicros,
  );
}

/** A digest instead of the thread's ID: the sums outlive the thread, and a deleted thread must leave no trace. */
function threadKey(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** Returns the tokens of a model call, if the record contains them. */
function spentIn(record: ThreadRecord): TokenUsageBreakdown | undefined {
  if (record.type === "usageReported") return record.usage.last;
  return "spent" in record ? record.spent : undefined;
}
