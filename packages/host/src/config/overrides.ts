import { ConfigError } from "./bad-config-error.ts";
import type { Table } from "./table-reader.ts";

type Parse = (text: string) => Table;

/** Parses `a.b.c=value`. A value that is not TOML is taken as a string, so that `-c model=o3` needs no quotes. */
export function readOverride(override: string, parse: Parse): [readonly string[], unknown] {
  const at = override.indexOf("=");
  if (at < 1) {
    throw new ConfigError(`-c ${override}: expected key=value, for example -c model_provider=offline`);
  }
  const path = override.slice(0, at).trim().split(".");
  if (path.some((key) => key === "")) throw new ConfigError(`-c ${override}: a key between dots is empty`);
  const raw = override.slice(at + 1).trim();
  if (raw === "") throw new ConfigError(`-c ${override.trim()}: the value is missing; "" is an empty text`);
  try {
    return [path, parse(`value = ${raw}`).value];
  } catch {
    return [path, raw.replace(/^(["'])(.*)\1$/s, "$2")];
  }
}

export function set(table: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = table;
  for (const key of path.slice(0, -1)) {
    const below = Object.hasOwn(at, key) ? at[key] : undefined;
    const next = typeof below === "object" && below !== null && !Array.isArray(below) ? below : {};
    define(at, key, next);
    at = next as Record<string, unknown>;
  }
  define(at, path.at(-1)!, value);
}

/** Defines the property, because an assignment to the key `__proto__` would change the prototype. */
function define(table: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(table, key, { value, enumerable: true, configurable: true, writable: true });
}
