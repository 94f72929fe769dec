import { isTable, type Table } from "../layered-config.ts";

export interface ConfigChange {
  readonly path: readonly string[];
  /** The new value; null removes the key. */
  readonly value: unknown;
  /** `upsert` merges a table into an existing one. */
  readonly mergeStrategy: "replace" | "upsert";
}

/**
 * Parses a dotted path into its keys; a key that contains dots is quoted. Returns a message if the path is malformed.
 */
export function keysOf(keyPath: string): readonly string[] | string {
  if (keyPath.trim() === "") return "keyPath must not be empty";
  const keys: string[] = [];
  let at = 0;
  while (at <= keyPath.length) {
    const quoted = /^"((?:[^"\\]|\\.)*)"(?=\.|$)/s.exec(keyPath.slice(at));
    const bare = /^[^."]+(?=\.|$)/s.exec(keyPath.slice(at));
    const found = quoted ?? bare;
    if (found === null) return problemAt(keyPath.slice(at));
    const key = quoted === null ? found[0] : quoted[1]!.replace(/\\(.)/gs, "$1");
    if (key === "") return "keyPath segments must not be empty";
    keys.push(key);
    at += found[0].length + 1;
  }
  return keys;
}

function problemAt(rest: string): string {
  if (rest === "" || rest.startsWith(".")) return "keyPath segments must not be empty";
  if (rest.startsWith('"') && !/^"(?:[^"\\]|\\.)*"/s.test(rest)) return "unterminated quoted keyPath segment";
  return "invalid quoted keyPath segment";
}

/** Applies a change to a table. Values outside of the path are not changed. */
export function changed(table: Table, { path, value, mergeStrategy }: ConfigChange): Table {
  const [key, ...rest] = path as [string, ...string[]];
  const below = Object.hasOwn(table, key) ? table[key] : undefined;
  if (rest.length > 0) {
    if (!isTable(below) && value === null) return table;
    const inner = changed(isTable(below) ? below : {}, { path: rest, value, mergeStrategy });
    return withKey(table, key, inner);
  }
  if (value === null) return Object.fromEntries(Object.entries(table).filter(([name]) => name !== key));
  const merges = mergeStrategy === "upsert" && isTable(below) && isTable(value);
  return withKey(table, key, merges ? merged(below, value) : value);
}

function merged(below: Table, above: Table): Table {
  return Object.entries(above).reduce((table: Table, [key, value]) => {
    const under = Object.hasOwn(table, key) ? table[key] : undefined;
    return withKey(table, key, isTable(under) && isTable(value) ? merged(under, value) : value);
  }, below);
}

/** Builds the table from entries, because an assignment to the key `__proto__` would change the prototype. */
function withKey(table: Table, key: string, value: unknown): Table {
  const entries = Object.entries(table);
  const at = entries.findIndex(([name]) => name === key);
  if (at < 0) entries.push([key, value]);
  else entries[at] = [key, value];
  return Object.fromEntries(entries);
}

/** Whether TOML can represent a value: it has no null, and no lone surrogates. */
export function isWritable(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (typeof value === "string") return isWhole(value);
  if (Array.isArray(value)) return value.every(isWritable);
  if (typeof value !== "object") return true;
  return Object.entries(value).every(([key, inner]) => isWhole(key) && isWritable(inner));
}

function isWhole(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
