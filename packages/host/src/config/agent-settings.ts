import { resolve } from "node:path";
import type { AgentSettings, DeclaredRole } from "../tool/children/helper-settings.ts";
import { ConfigError } from "./bad-config-error.ts";
import { flag, list, subtable, type Table, text, whole, wholeWithin } from "./table-reader.ts";

/** Upper bound of `max_threads`. Each open helper is a loaded thread, and uses memory. */
const MOST_THREADS = 1000;
const MOST_DEPTH = 100;

/** Keys of `[agents]` that are settings; every other key is the name of a role. */
const SETTINGS = new Set([
  "enabled",
  "max_threads",
  "max_concurrent_threads_per_session",
  "max_depth",
  "default_subagent_model",
  "default_subagent_reasoning_effort",
  "job_max_runtime_seconds",
  "interrupt_message",
]);

/** Reads `[agents]`: whether and how models may start helpers, and the declared roles of helpers. */
export function readAgents(table: Table, home: string): AgentSettings {
  const agents = subtable(table, "agents") ?? {};
  const at = "agents.";
  const roles = Object.keys(agents).filter((key) => !SETTINGS.has(key));
  return {
    enabled: flag(agents, "enabled", at) ?? true,
    maxThreads:
      wholeWithin(agents, "max_concurrent_threads_per_session", 1, MOST_THREADS, at) ??
      wholeWithin(agents, "max_threads", 1, MOST_THREADS, at) ??
      6,
    maxDepth: Math.min(whole(agents, "max_depth", 0, at) ?? 1, MOST_DEPTH),
    defaultModel: text(agents, "default_subagent_model", at) ?? null,
    defaultEffort: text(agents, "default_subagent_reasoning_effort", at) ?? null,
    roles: new Map(roles.map((name) => [name, readRole(subtable(agents, name, at)!, `${at}${name}.`, home)])),
  };
}

function readRole(role: Table, at: string, home: string): DeclaredRole {
  const file = text(role, "config_file", at);
  return {
    description: text(role, "description", at)?.trim() || null,
    configFile: file === undefined ? null : resolve(home, file),
    nicknames: readNicknames(role, at),
  };
}

/** Reads `nickname_candidates`, the names that helpers of a role get, from `config.toml` or from a role file. */
export function readNicknames(role: Table, at: string): readonly string[] | null {
  const names = list(role, "nickname_candidates", at);
  if (names === undefined) return null;
  const trimmed = names.map((name) => name.trim());
  const wrong = trimmed.find((name) => !/^[\w -]{1,64}$/.test(name));
  if (wrong !== undefined || trimmed.length === 0)
    throw new ConfigError(
      `${at}nickname_candidates: expected names of letters, digits, spaces, hyphens and underscores, found ${JSON.stringify(wrong ?? names)}`,
    );
  if (new Set(trimmed).size < trimmed.length)
    throw new ConfigError(`${at}nickname_candidates: a name occurs twice`);
  return trimmed;
}
