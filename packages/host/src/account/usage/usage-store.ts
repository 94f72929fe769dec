/** Tokens of one model that one thread used on one day. */
export interface UsageRow {
  /** Day in UTC, for example 2026-11-17. */
  readonly day: string;
  /** Digest of the thread's id. */
  readonly thread: string;
  readonly provider: string;
  readonly model: string;
  readonly effort: string | null;
  /** Input tokens, including cached ones. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

/** Stores sums of usage. Rows that differ only in their numbers are added up. */
export interface UsageStore {
  /** Adds all rows atomically. */
  add(rows: readonly UsageRow[], longestTurnMs: number): Promise<void>;
  rows(): Promise<readonly UsageRow[]>;
  /** Rows of one day. */
  of(day: string): Promise<readonly UsageRow[]>;
  longestTurnMs(): Promise<number>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Key of a row: rows with equal keys are added up. */
function keyOf({ day, thread, provider, model, effort }: UsageRow): string {
  return JSON.stringify([day, thread, provider, model, effort]);
}

/** Adds rows up in memory. */
export class UsageSums {
  readonly #rows = new Map<string, UsageRow>();
  longestTurnMs = 0;

  get isEmpty(): boolean {
    return this.#rows.size === 0 && this.longestTurnMs === 0;
  }

  add(row: UsageRow): void {
    const key = keyOf(row);
    const before = this.#rows.get(key);
    this.#rows.set(
      key,
      before === undefined
        ? row
        : {
            ...row,
            inputTokens: before.inputTokens + row.inputTokens,
            cachedTokens: before.cachedTokens + row.cachedTokens,
            outputTokens: before.outputTokens + row.outputTokens,
          },
    );
  }

  rows(): readonly UsageRow[] {
    return [...this.#rows.values()];
  }
}
