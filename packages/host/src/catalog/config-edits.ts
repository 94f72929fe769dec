import { isTable, type Table } from "./config-layers.ts";

export interface ConfigChange {
  readonly path: readonly string[];
  /** Null: it is taken out. */
  readonly value: unknown;
  /** `upsert`: a table is merged into one that is there. */
  readonly mergeStrategy: "replace" | "upsert";
}

/** The keys of a dotted path; one that has dots in it stands in quotes. A text says what is wrong with it. */
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

/** The table after a change; what is not on the path is the same as before. */
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

/** Keys come from outside: `__proto__` is a key like any other. */
function withKey(table: Table, key: string, value: unknown): Table {
  const entries = Object.entries(table);
  const at = entries.findIndex(([name]) => name === key);
  if (at < 0) entries.push([key, value]);
  else entries[at] = [key, value];
  return Object.fromEntries(entries);
}

/** Whether TOML can say it: it has no null. */
export function isWritable(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.every(isWritable);
  return typeof value === "object" ? Object.values(value).every(isWritable) : true;
}
