import { ConfigError } from "./bad-config-error.ts";

/** A TOML table as the parser returns it. */
export type Table = { readonly [key: string]: unknown };

/** Reads a string from a table. `at` is the path of the table, for error messages. */
export function text(table: Table, key: string, at = ""): string | undefined {
  const value = table[key];
  if (value === undefined || typeof value === "string") return value;
  throw new ConfigError(`${at}${key}: expected a string, found ${JSON.stringify(value)}`);
}

export function flag(table: Table, key: string, at = ""): boolean | undefined {
  const value = table[key];
  if (value === undefined || typeof value === "boolean") return value;
  throw new ConfigError(`${at}${key}: expected true or false, found ${JSON.stringify(value)}`);
}

export function whole(table: Table, key: string, least: number, at = ""): number | undefined {
  const value = table[key];
  if (value === undefined) return undefined;
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= least) return number;
  throw new ConfigError(`${at}${key}: expected a whole number of at least ${least}, found ${String(value)}`);
}

/** Reads a whole number from `least` to `most`. */
export function wholeWithin(
  table: Table,
  key: string,
  least: number,
  most: number,
  at = "",
): number | undefined {
  const number = whole(table, key, least, at);
  if (number === undefined || number <= most) return number;
  throw new ConfigError(`${at}${key}: expected a whole number of at most ${most}, found ${number}`);
}

export function oneOf<const T extends string>(
  table: Table,
  key: string,
  allowed: readonly T[],
  at = "",
): T | undefined {
  const value = text(table, key, at);
  if (value === undefined) return undefined;
  const found = allowed.find((one) => one === value);
  if (found === undefined)
    throw new ConfigError(`${at}${key}: "${value}" is not one of ${allowed.join(", ")}`);
  return found;
}

export function subtable(table: Table, key: string, at = ""): Table | undefined {
  const value = table[key];
  if (value === undefined) return undefined;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Table;
  throw new ConfigError(`${at}${key}: expected a table, found ${JSON.stringify(value)}`);
}

/** Reads a list of strings. */
export function list(table: Table, key: string, at = ""): readonly string[] | undefined {
  const value = table[key];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new ConfigError(`${at}${key}: expected a list of strings`);
}

/** Reads a table of strings; numbers and booleans are converted. */
export function textTable(table: Table, key: string, at = ""): Readonly<Record<string, string>> {
  const entries = Object.entries(subtable(table, key, at) ?? {});
  for (const [name, value] of entries) {
    if (!["string", "number", "boolean", "bigint"].includes(typeof value)) {
      throw new ConfigError(`${at}${key}.${name}: expected a string, found ${JSON.stringify(value)}`);
    }
  }
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}
