import type { Table } from "../table-reader.ts";
import { CONFIG_KEYS } from "./catalogue.ts";
import type { Key } from "./key.ts";

/** The keys that count in the `config` of a request. docs/layers.md lists them. */
export const REQUEST_KEYS: readonly string[] = [
  "approval_policy",
  "approvals_reviewer",
  "compact_prompt",
  "default_permissions",
  "developer_instructions",
  "mcp_servers",
  "model",
  "model_auto_compact_token_limit",
  "model_context_window",
  "model_provider",
  "model_reasoning_effort",
  "model_reasoning_summary",
  "model_verbosity",
  "personality",
  "review_model",
  "sandbox_mode",
  "sandbox_workspace_write",
  "service_tier",
  "web_search",
];

/** Returns the keys of a request's `config` that count in config.toml, but not in a request. */
export function unusedKeys(table: Table): readonly string[] {
  return Object.keys(table).filter((name) => {
    const key = Object.hasOwn(CONFIG_KEYS, name) ? CONFIG_KEYS[name]! : undefined;
    return key !== undefined && !REQUEST_KEYS.includes(name) && counts(key, table[name]);
  });
}

/** Whether a value counts in config.toml. A table of keys that are only the Codex CLI's does not. */
function counts({ type, codexOnly }: Key, value: unknown): boolean {
  if (codexOnly === true) return false;
  if (type.kind !== "table" || type.named !== undefined || typeof value !== "object" || value === null)
    return true;
  return Object.keys(value).some(
    (name) => Object.hasOwn(type.keys, name) && type.keys[name]!.codexOnly !== true,
  );
}
