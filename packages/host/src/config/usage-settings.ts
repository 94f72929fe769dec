import { ConfigError } from "./bad-config-error.ts";
import { subtable, type Table, whole } from "./table-reader.ts";

/** Price of a model's tokens, in dollars per million. */
export interface ModelPrice {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

/** Daily limits on tokens and cost, and the prices of models. */
export interface UsageSettings {
  readonly dailyTokens: number | null;
  readonly dailyCostUsd: number | null;
  /** Prices by model name. */
  readonly prices: ReadonlyMap<string, ModelPrice>;
}

export function readUsage(table: Table): UsageSettings {
  const usage = subtable(table, "usage") ?? {};
  const prices = new Map<string, ModelPrice>();
  const entries = subtable(usage, "prices", "usage.") ?? {};
  for (const model of Object.keys(entries)) {
    const at = `usage.prices.${model}.`;
    const entry = subtable(entries, model, "usage.prices.")!;
    const input = amount(entry, "input", at);
    const output = amount(entry, "output", at);
    if (input === undefined) throw new ConfigError(`${at}input is required`);
    if (output === undefined) throw new ConfigError(`${at}output is required`);
    prices.set(model, { input, output, cachedInput: amount(entry, "cached_input", at) ?? input });
  }
  const dailyCostUsd = amount(usage, "daily_cost_usd", "usage.") ?? null;
  if (dailyCostUsd === 0) throw new ConfigError("usage.daily_cost_usd: expected more than 0");
  return {
    dailyTokens: whole(usage, "daily_tokens", 1, "usage.") ?? null,
    dailyCostUsd,
    prices,
  };
}

function amount(table: Table, key: string, at: string): number | undefined {
  const value = table[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new ConfigError(`${at}${key}: expected an amount in dollars, found ${JSON.stringify(value)}`);
}
