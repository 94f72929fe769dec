import { OFFLINE_MODEL } from "../model/model.ts";
import type { Files } from "../platform/platform.ts";
import { type Config, readConfig } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { configPath, readConfigFile } from "./config-file.ts";
import type { Table } from "./table.ts";

/** `config.toml` of the home, with `key=value` overrides on top. */
export async function loadConfig(
  files: Pick<Files, "readText">,
  home: string,
  overrides: readonly string[],
): Promise<Config> {
  const text = await readConfigFile(files, home);
  if (text === undefined && overrides.length === 0) return readConfig({});
  // Most runs over stdio have neither: the parser is loaded for those that do.
  const { parse } = await import("@decimalturn/toml-patch");
  let table: Record<string, unknown> = {};
  try {
    if (text !== undefined) table = parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new ConfigError(`${configPath(home)}: ${(cause as Error).message}`, { cause });
  }
  for (const override of overrides) {
    const [path, value] = readOverride(override, parse);
    set(table, path, value);
  }
  return readConfig(table, { home });
}

/**
 * What a host runs on. What is wrong with a flag is for those who typed it, and ends the program. What is wrong with
 * the file is `wrong`, for clients to hear: to them a program that is gone says nothing. Then flags alone count.
 */
export async function hostConfig(
  files: Pick<Files, "readText">,
  home: string,
  overrides: readonly string[],
): Promise<{ readonly config: Config; readonly wrong: string | null }> {
  try {
    return { config: withProvider(await loadConfig(files, home, overrides)), wrong: null };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const flags = loadConfig({ readText: async () => undefined }, home, overrides);
    const config = await flags.then(withProvider).catch(() => {
      throw cause;
    });
    return { config, wrong: cause.message };
  }
}

function withProvider(config: Config): Config {
  const { modelProvider, modelProviders } = config;
  const known = [OFFLINE_MODEL, ...modelProviders.map(({ id }) => id)];
  if (known.includes(modelProvider)) return config;
  throw new ConfigError(`model_provider: "${modelProvider}" is not one of ${known.join(", ")}`);
}

type Parse = (text: string) => Table;

/** `a.b.c=value`; a value that is no TOML is taken as text, so that `-c model=o3` needs no quotes. */
export function readOverride(override: string, parse: Parse): [readonly string[], unknown] {
  const at = override.indexOf("=");
  if (at < 1) {
    throw new ConfigError(`-c ${override}: expected key=value, for example -c model_provider=offline`);
  }
  const path = override.slice(0, at).trim().split(".");
  if (path.some((key) => key === "")) throw new ConfigError(`-c ${override}: a key between dots is empty`);
  const raw = override.slice(at + 1).trim();
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

/** Keys come from outside: `__proto__` is a key like any other. */
function define(table: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(table, key, { value, enumerable: true, configurable: true, writable: true });
}
