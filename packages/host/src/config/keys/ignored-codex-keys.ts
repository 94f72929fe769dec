import { IGNORED_CODEX_FEATURES } from "./ignored-codex-features.ts";
import { codexOnly, flag, type KeyTable, table } from "./key.ts";
import { NETWORK_PROXY } from "./permission-keys.ts";

/**
 * Keys of the Codex CLI 0.166 that have no effect in Bobbin. A key that gets an effect must be moved to the file of
 * its area.
 */
const TOP = [
  "allow_login_shell",
  "analytics",
  "apps",
  "apps_mcp_product_sku",
  "audio",
  "background_terminal_max_timeout",
  "browser_use",
  "check_for_update_on_startup",
  "computer_use",
  "desktop",
  "disable_paste_burst",
  "experimental_compact_prompt_file",
  "experimental_realtime_start_instructions",
  "experimental_realtime_webrtc_call_base_url",
  "experimental_realtime_ws_backend_prompt",
  "experimental_realtime_ws_base_url",
  "experimental_realtime_ws_model",
  "experimental_realtime_ws_startup_context",
  "experimental_thread_store",
  "experimental_use_unified_exec_tool",
  "file_opener",
  "ghost_snapshot",
  "hide_agent_reasoning",
  "history",
  "include_apps_instructions",
  "include_collaboration_mode_instructions",
  "include_environment_context",
  "include_permissions_instructions",
  "instructions",
  "log_dir",
  "marketplaces",
  "mcp_oauth_callback_port",
  "mcp_oauth_callback_url",
  "memories",
  "model_auto_compact_token_limit_scope",
  "model_catalog_json",
  "notice",
  "orchestrator",
  "oss_provider",
  "otel",
  "plan_mode_reasoning_effort",
  "plugins",
  "profile",
  "profiles",
  "project_root_markers",
  "realtime",
  "responses_api_metadata",
  "show_raw_agent_reasoning",
  "sqlite_home",
  "suppress_unstable_features_warning",
  "tool_output_token_limit",
  "tool_suggest",
  "tui",
  "windows",
];

/** Keys of older versions of the Codex CLI that are still in people's files. */
const OLDER = [
  "disable_response_storage",
  "experimental_instructions_file",
  "experimental_resume",
  "experimental_sandbox_command_assessment",
  "experimental_use_exec_command_tool",
  "experimental_use_freeform_apply_patch",
  "experimental_use_rmcp_client",
  "internal_originator",
  "model_max_output_tokens",
  "model_reasoning_summary_format",
  "model_supports_reasoning_summaries",
  "preferred_auth_method",
  "tui2",
];

export const IGNORED_CODEX_KEYS: KeyTable = {
  ...codexOnly(...TOP, ...OLDER),
  features: {
    type: table({
      ...codexOnly(...IGNORED_CODEX_FEATURES),
      default_mode_request_user_input: {
        type: flag,
        about: "Whether models can ask the user in Default mode, not only in Plan mode.",
        default: "false",
      },
      goals: { type: flag, about: "Whether threads can have goals.", default: "true" },
      hooks: { type: flag, about: "Whether hooks run. Required hooks always run.", default: "true" },
      codex_hooks: { type: flag, about: "The older name of `features.hooks`." },
      multi_agent: { type: flag, about: "Whether models can start helpers.", default: "true" },
      collab: { type: flag, about: "The older name of `features.multi_agent`." },
      request_permissions_tool: {
        type: flag,
        about: "Whether models can ask for network access or for further folders.",
        default: "true",
      },
      shell_tool: { type: flag, about: "Whether models can run commands.", default: "true" },
      view_image: {
        type: flag,
        about: "Whether models can view image files.",
        default: "true",
      },
      network_proxy: {
        type: NETWORK_PROXY,
        about: "Whether network access of all commands is limited by host.",
        default: "false",
      },
    }),
    about: "Features that can be turned on and off.",
  },
};
