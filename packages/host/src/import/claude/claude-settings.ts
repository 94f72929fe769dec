import { dirname, join } from "node:path";
import { isObject, type JsonObject, readJson, type TextFiles } from "../text-files.ts";

/** Reads `settings.json`, overridden by `settings.local.json`, as Claude Code does; undefined if neither exists. */
export async function readClaudeSettings(files: TextFiles, path: string): Promise<JsonObject | undefined> {
  const shared = await readJson(files, path);
  const local = await readJson(files, join(dirname(path), "settings.local.json"));
  if (shared === undefined || local === undefined) return shared ?? local;
  return merged(shared, local);
}

function merged(below: JsonObject, above: JsonObject): JsonObject {
  const entries = Object.entries(above).map(([key, value]): [string, unknown] => {
    const under = Object.hasOwn(below, key) ? below[key] : undefined;
    return [key, isObject(under) && isObject(value) ? merged(under, value) : value];
  });
  return Object.fromEntries([...Object.entries(below), ...entries]);
}

/** Variables that configure Claude Code itself, and are irrelevant to commands. */
const OWN_VARIABLES = /^(ANTHROPIC|CLAUDE)_/;

/**
 * Converts settings to `config.toml`: the environment of commands, and the sandbox. Permissions are not imported, so
 * that the user is asked again.
 */
export function configOf(settings: JsonObject): JsonObject {
  const { env, sandbox } = settings;
  const set = Object.entries(isObject(env) ? env : {}).flatMap(([name, value]): [string, string][] => {
    if (OWN_VARIABLES.test(name)) return [];
    const text = scalarText(value);
    return text === undefined ? [] : [[name, text]];
  });
  return {
    ...(isObject(sandbox) && sandbox["enabled"] === true && { sandbox_mode: "workspace-write" }),
    ...(set.length > 0 && { shell_environment_policy: { set: Object.fromEntries(set) } }),
  };
}

/** Converts a string, number or flag to text. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

export function textList(value: unknown): readonly string[] {
  const all = Array.isArray(value) ? value : [value];
  return all.map(scalarText).filter((text) => text !== undefined);
}
