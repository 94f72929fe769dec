import { choice, codexOnly, flag, type KeyTable, named, table, text, textsByName, whole } from "./key.ts";

const MEBIBYTE = 1024 * 1024;

const PROVIDER: KeyTable = {
  name: { type: text, about: "Name for people.", default: "its id" },
  base_url: {
    type: text,
    about: "The base URL of the API, with the version.",
    default: "the URL of OpenAI or Anthropic",
  },
  wire_api: {
    type: choice("responses", "chat", "messages"),
    about: "The provider's API: OpenAI Responses, OpenAI Chat Completions or Anthropic Messages.",
    default: "responses",
  },
  env_key: { type: text, about: "Environment variable with the API key.", default: "none" },
  env_key_instructions: {
    type: text,
    about: "Shown to people without an API key: how to get one.",
    default: "none",
  },
  experimental_bearer_token: { type: text, about: "The API key itself; prefer `env_key`.", default: "none" },
  requires_openai_auth: {
    type: flag,
    about: "Whether the provider uses OpenAI's login or API key.",
    default: "false",
  },
  http_headers: {
    type: textsByName("HEADER", "The value of the header."),
    about: "HTTP headers of each request.",
  },
  env_http_headers: {
    type: textsByName("HEADER", "The environment variable with the value."),
    about: "HTTP headers of each request, with values from environment variables.",
  },
  query_params: {
    type: textsByName("PARAMETER", "The value of the parameter."),
    about: "Query parameters of each request.",
  },
  request_max_retries: {
    type: whole(0),
    about: "How often a failed request is retried; at most 100.",
    default: "4",
  },
  stream_max_retries: {
    type: whole(0),
    about: "How often a request is retried whose answer broke off; at most 100.",
    default: "5",
  },
  stream_idle_timeout_ms: {
    type: whole(1),
    about: "After this many milliseconds without data, an answer counts as broken off.",
    default: "300000",
  },
  ...codexOnly(
    "auth",
    "aws",
    "supports_standalone_web_search",
    "supports_websockets",
    "websocket_connect_timeout_ms",
  ),
};

/** Keys of models, their providers and their prompts. */
export const MODEL_KEYS: KeyTable = {
  model_provider: {
    type: text,
    about:
      "The provider of the model: `openai`, `anthropic`, `ollama`, `lmstudio`, `offline`, or an entry of `model_providers`.",
    default: "inferred from the model's name, else `offline`",
  },
  model: { type: text, about: "The default model of threads.", default: "the provider's first model" },
  model_providers: {
    type: named("ID", table(PROVIDER), "A provider of your own, or changes to one that is built in."),
    about: "Providers of models.",
  },
  openai_base_url: {
    type: text,
    about:
      "The base URL of the provider `openai`, with the version. `model_providers.openai.base_url` overrides it.",
    default: "the URL of OpenAI",
  },
  model_reasoning_effort: {
    type: text,
    about: "Reasoning effort: a value that the model knows, such as `high`.",
    default: "the model's",
  },
  model_reasoning_summary: {
    type: choice("auto", "concise", "detailed", "none"),
    about: "How detailed the summaries of the model's reasoning are.",
    default: "the model's",
  },
  model_verbosity: {
    type: choice("low", "medium", "high"),
    about: "How long answers are.",
    default: "the model's",
  },
  personality: {
    type: choice("none", "friendly", "pragmatic"),
    about: "The tone of the answers.",
    default: "none",
  },
  service_tier: {
    type: text,
    about: "`fast`, `flex` or `default`, if the provider offers it.",
    default: "none",
  },
  web_search: {
    type: choice("live", "cached", "disabled"),
    about: "Whether models may search the web, if their provider offers that.",
    default: "disabled",
  },
  model_context_window: {
    type: whole(1),
    about: "Size of the model's context window in tokens.",
    default: "derived from the model",
  },
  model_auto_compact_token_limit: {
    type: whole(1),
    about: "At this many tokens the conversation is summarized automatically.",
    default: "90 % of the window",
  },
  compact_prompt: {
    type: text,
    about: "The prompt for that summary.",
    default: "the built-in prompt",
  },
  review_model: {
    type: text,
    about: "The model that reviews code and approvals.",
    default: "the thread's own",
  },
  developer_instructions: {
    type: text,
    about: "Instructions for threads that have none of their own.",
    default: "none",
  },
  model_instructions_file: {
    type: text,
    about: "A file with base instructions, in place of the built-in ones.",
    default: "none",
  },
  project_doc_max_bytes: {
    type: whole(0),
    about: "Limit on the bytes of all `AGENTS.md` files together.",
    default: "32768",
  },
  project_doc_fallback_filenames: {
    type: { kind: "list", of: text },
    about: "Names of files that are used in folders without an `AGENTS.md`.",
    default: "none",
  },
  model_item_max_bytes: {
    type: whole(1, 32 * MEBIBYTE),
    about: "Limit on the bytes of one item of a model: a message, reasoning, or the arguments of a call.",
    default: "2097152",
  },
  model_answer_max_bytes: {
    type: whole(1, 256 * MEBIBYTE),
    about: "Limit on the bytes of an answer of a model, all its items together.",
    default: "16777216",
  },
  model_answer_max_calls: {
    type: whole(1, 10_000),
    about: "Limit on the tool calls in one answer of a model.",
    default: "1000",
  },
  turn_max_calls: {
    type: whole(1, 1_000_000),
    about: "Limit on the tool calls in one turn.",
    default: "10000",
  },
  goals: {
    type: table({
      max_goal_token_budget: {
        type: whole(1),
        about: "Limit on a goal's token budget, and its default.",
        default: "none",
        atStart: true,
      },
    }),
    about: "Goals of threads.",
  },
};
