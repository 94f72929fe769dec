import {
  type UsageRow,
  type UsageStore,
  UsageSums,
} from "../../packages/host/src/account/usage/usage-store.ts";

/** Usage in memory, for hosts with simulated files. */
export class MemoryUsageStore implements UsageStore {
  readonly #sums = new UsageSums();

  async add(rows: readonly UsageRow[], longestTurnMs: number): Promise<void> {
    for (const row of rows) this.#sums.add(row);
    this.#sums.longestTurnMs = Math.max(this.#sums.longestTurnMs, longestTurnMs);
  }

  async rows(): Promise<readonly UsageRow[]> {
    return this.#sums.rows();
  }

  async of(day: string): Promise<readonly UsageRow[]> {
    return this.#sums.rows().filter((row) => row.day === day);
  }

  async longestTurnMs(): Promise<number> {
    return this.#sums.longestTurnMs;
  }

  async close(): Promise<void> {}
}
