import { messageOf } from "../errors.ts";
import { details, type ItemType, named, type PendingImport } from "./pending-import.ts";
import { isObject, type JsonObject } from "./text-files.ts";

/** A `config.toml` to which an import adds values. */
export interface ConfigFile {
  readonly path: string;
  /** Returns the current values; empty if the file does not exist. Throws if it cannot be read. */
  read(): Promise<JsonObject>;
  /** Merges a value into the file, and keeps comments and formatting. */
  add(keys: readonly string[], value: unknown): Promise<void>;
}

/** Returns the part of `wanted` that `present` does not contain; undefined if nothing is missing. */
export function missingValues(present: unknown, wanted: JsonObject): JsonObject | undefined {
  if (!isObject(present)) return present === undefined ? nonEmpty(wanted) : undefined;
  const missing = Object.entries(wanted).flatMap(([key, value]): [string, unknown][] => {
    const now = Object.hasOwn(present, key) ? present[key] : undefined;
    if (now === undefined) return isObject(value) && nonEmpty(value) === undefined ? [] : [[key, value]];
    const inner = isObject(value) ? missingValues(now, value) : undefined;
    return inner === undefined ? [] : [[key, inner]];
  });
  return nonEmpty(Object.fromEntries(missing));
}

function nonEmpty(table: JsonObject): JsonObject | undefined {
  return Object.keys(table).length === 0 ? undefined : table;
}

/** Adds missing values to the file, key by key, so that a refused key does not prevent the others. */
export async function configImport(
  file: ConfigFile,
  source: string,
  wanted: JsonObject,
): Promise<PendingImport | undefined> {
  const itemType: ItemType = "CONFIG";
  const missing = missingValues(await file.read(), wanted);
  if (missing === undefined) return undefined;
  return {
    itemType,
    description: `Migrate ${source} into ${file.path}`,
    details: null,
    async run(report) {
      let added = 0;
      for (const [key, value] of Object.entries(missing)) {
        try {
          await file.add([key], value);
          added++;
        } catch (cause) {
          report.failure(source, `${key}: ${messageOf(cause)}`);
        }
      }
      if (added > 0) report.success(source, file.path);
    },
  };
}

/** Adds MCP servers whose names do not exist yet, one by one. */
export async function mcpImport(
  file: ConfigFile,
  source: string,
  servers: ReadonlyMap<string, JsonObject>,
): Promise<PendingImport | undefined> {
  const itemType: ItemType = "MCP_SERVER_CONFIG";
  const { mcp_servers: present } = await file.read();
  const names = [...servers.keys()].filter((name) => !isObject(present) || !Object.hasOwn(present, name));
  if (names.length === 0) return undefined;
  names.sort();
  return {
    itemType,
    description: `Migrate MCP servers from ${source} into ${file.path}`,
    details: details({ mcpServers: named(names) }),
    async run(report) {
      for (const name of names) {
        try {
          await file.add(["mcp_servers", name], servers.get(name)!);
          report.success(name, name);
        } catch (cause) {
          report.failure(name, messageOf(cause));
        }
      }
    },
  };
}
