import { ConfigError } from "./bad-config-error.ts";
import { isTable } from "./layer.ts";
import type { Table } from "./table-reader.ts";

/** Limit on the mistakes that one message names. */
const MAX_MISTAKES = 10;

/**
 * Reads a configuration. If values are invalid, throws one ConfigError that names all of them, one per line, so that
 * users can correct them at once. After each mistake its table (or its key at the top) is left out, and the rest is
 * read.
 */
export function readNamingMistakes<T>(table: Table, read: (table: Table) => T): T {
  const mistakes: string[] = [];
  let left = table;
  for (;;) {
    try {
      const value = read(left);
      if (mistakes.length === 0) return value;
    } catch (cause) {
      if (!(cause instanceof ConfigError)) throw cause;
      mistakes.push(cause.message);
      const rest = withoutMistake(left, cause.message);
      if (rest !== undefined && mistakes.length < MAX_MISTAKES) {
        left = rest;
        continue;
      }
    }
    throw new ConfigError(mistakes.join("\n"));
  }
}

/** The table without the part that a message is about; undefined if the message does not begin with a key of it. */
function withoutMistake(table: Table, message: string): Table | undefined {
  const path = /^([\w-]+(?:\.[\w-]+)*): /.exec(message)?.[1]?.split(".");
  if (path === undefined) return undefined;
  return without(table, path.length > 1 ? path.slice(0, -1) : path);
}

function without(table: Table, [key, ...below]: readonly string[]): Table | undefined {
  if (key === undefined || !Object.hasOwn(table, key)) return undefined;
  const { [key]: value, ...others } = table;
  if (below.length === 0) return others;
  if (!isTable(value)) return undefined;
  const rest = without(value, below);
  return rest && { ...others, [key]: rest };
}
