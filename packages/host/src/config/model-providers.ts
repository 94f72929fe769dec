import { OFFLINE_MODEL } from "../model/model.ts";
import type { ProviderSettings } from "../model/provider-settings.ts";
import { ConfigError } from "./bad-config-error.ts";
import { flag, oneOf, subtable, type Table, text, textTable, whole } from "./table-reader.ts";

export const OPENAI_URL = "https://api.openai.com/v1";
const ANTHROPIC_URL = "https://api.anthropic.com/v1";
const OPENAI_KEY = "OPENAI_API_KEY";
const MOST_RETRIES = 100;

const ANY: Omit<ProviderSettings, "id" | "name"> = {
  wire: "responses",
  baseUrl: OPENAI_URL,
  models: ["gpt-5.5"],
  envKey: null,
  envKeyInstructions: null,
  envKeyFirst: true,
  bearerToken: null,
  headers: {},
  envHeaders: {},
  query: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeoutMs: 300_000,
  requiresOpenaiAuth: false,
  local: false,
};

/** Providers that exist without an entry in `[model_providers]`. An entry overrides single keys. */
const BUILT_IN: readonly ProviderSettings[] = [
  {
    ...ANY,
    id: "openai",
    name: "OpenAI",
    models: ["gpt-5.5", "gpt-5.4", "gpt-5.4-mini"],
    envKey: OPENAI_KEY,
    // A login takes precedence over `OPENAI_API_KEY`, because the variable is often set for other programs.
    envKeyFirst: false,
    envHeaders: { "openai-organization": "OPENAI_ORGANIZATION", "openai-project": "OPENAI_PROJECT" },
    requiresOpenaiAuth: true,
  },
  {
    ...ANY,
    id: "anthropic",
    name: "Anthropic",
    wire: "messages",
    baseUrl: ANTHROPIC_URL,
    models: ["claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5"],
    envKey: "ANTHROPIC_API_KEY",
  },
  {
    ...ANY,
    id: "ollama",
    name: "Ollama",
    wire: "chat",
    baseUrl: "http://localhost:11434/v1",
    models: ["gpt-oss:20b"],
    local: true,
  },
  {
    ...ANY,
    id: "lmstudio",
    name: "LM Studio",
    wire: "chat",
    baseUrl: "http://localhost:1234/v1",
    models: ["openai/gpt-oss-20b"],
    local: true,
  },
];

/** Whether a provider of this ID exists without an entry in `[model_providers]`. */
export function isBuiltInProvider(id: string): boolean {
  return id === OFFLINE_MODEL || BUILT_IN.some((settings) => settings.id === id);
}

export interface ModelChoice {
  readonly modelProvider: string;
  readonly model: string;
  /** All providers with an HTTP API. The offline provider is not listed, because it has no settings. */
  readonly modelProviders: readonly ProviderSettings[];
}

/** Reads all providers, and chooses the default provider and model. */
export function readModelProviders(table: Table): ModelChoice {
  const entries = Object.entries(subtable(table, "model_providers") ?? {});
  const byId = new Map(BUILT_IN.map((settings) => [settings.id, settings]));
  const openaiUrl = text(table, "openai_base_url")?.trim();
  if (openaiUrl)
    byId.set("openai", { ...byId.get("openai")!, baseUrl: address(openaiUrl, "openai_base_url") });
  for (const [id] of entries) {
    const entry = subtable(table.model_providers as Table, id, "model_providers.")!;
    byId.set(id, readProvider(id, entry, byId.get(id)));
  }
  const named = text(table, "model");
  const modelProvider =
    text(table, "model_provider") ??
    impliedBy(named) ??
    (entries.length === 1 ? entries[0]![0] : OFFLINE_MODEL);
  const chosen = byId.get(modelProvider);
  const model = named ?? chosen?.models[0] ?? OFFLINE_MODEL;
  if (chosen !== undefined) {
    byId.set(modelProvider, { ...chosen, models: [...new Set([model, ...chosen.models])] });
  }
  return { modelProvider, model, modelProviders: [...byId.values()] };
}

/** Infers the provider from the model's name, because many configurations only name the model. */
function impliedBy(model: string | undefined): string | undefined {
  if (model === undefined) return undefined;
  if (/^claude-/.test(model)) return "anthropic";
  return /^(gpt-(?!oss)|o\d|codex-)/.test(model) ? "openai" : undefined;
}

function readProvider(id: string, entry: Table, before: ProviderSettings | undefined): ProviderSettings {
  const at = `model_providers.${id}.`;
  const wire = oneOf(entry, "wire_api", ["responses", "chat", "messages"], at) ?? before?.wire ?? ANY.wire;
  const requiresOpenaiAuth = flag(entry, "requires_openai_auth", at) ?? before?.requiresOpenaiAuth ?? false;
  const bearerToken = text(entry, "experimental_bearer_token", at) ?? before?.bearerToken ?? null;
  const usual = before ?? {
    ...ANY,
    baseUrl: wire === "messages" ? ANTHROPIC_URL : OPENAI_URL,
    envKey: requiresOpenaiAuth && bearerToken === null ? OPENAI_KEY : null,
    envKeyFirst: !requiresOpenaiAuth,
  };
  const envKey = text(entry, "env_key", at);
  return {
    id,
    name: text(entry, "name", at) || before?.name || id,
    wire,
    baseUrl: address(text(entry, "base_url", at) ?? usual.baseUrl, `${at}base_url`),
    models: usual.models,
    envKey: envKey ?? usual.envKey,
    envKeyFirst: envKey !== undefined || usual.envKeyFirst,
    envKeyInstructions: text(entry, "env_key_instructions", at) ?? usual.envKeyInstructions,
    bearerToken,
    headers: { ...usual.headers, ...textTable(entry, "http_headers", at) },
    envHeaders: { ...usual.envHeaders, ...textTable(entry, "env_http_headers", at) },
    query: { ...usual.query, ...textTable(entry, "query_params", at) },
    requestMaxRetries: retries(entry, "request_max_retries", at) ?? usual.requestMaxRetries,
    streamMaxRetries: retries(entry, "stream_max_retries", at) ?? usual.streamMaxRetries,
    streamIdleTimeoutMs: whole(entry, "stream_idle_timeout_ms", 1, at) ?? usual.streamIdleTimeoutMs,
    requiresOpenaiAuth,
    local: usual.local,
  };
}

function retries(entry: Table, key: string, at: string): number | undefined {
  const value = whole(entry, key, 0, at);
  return value === undefined ? undefined : Math.min(value, MOST_RETRIES);
}

function address(url: string, key: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new ConfigError(`${key}: expected an http:// or https:// address, found ${JSON.stringify(url)}`);
}
