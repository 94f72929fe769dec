import { type Config, readConfig } from "../../config/config.ts";
import { set } from "../../config/overrides.ts";
import type { Table } from "../../config/table-reader.ts";
import type { ThreadSettings } from "../../core/life/records.ts";
import { fault } from "../../errors.ts";

/** The caller's configuration, which a request's `config` overrides. */
export interface ConfigScope {
  readonly config: Config;
  readonly home: string;
}

type RequestConfig = Table | null | undefined;
type Change = readonly [key: string, Partial<ThreadSettings>];

/**
 * The thread settings in a request's `config`, which has the keys of config.toml. Other keys are ignored, with the
 * warning of `requestKeyWarnings`.
 */
export function configured(overrides: RequestConfig, scope: ConfigScope): Partial<ThreadSettings> {
  if (overrides == null) return {};
  const table = nested(overrides);
  const config = read(table, scope);
  const known: readonly Change[] = [
    ["model", { model: config.model }],
    ["model_provider", { modelProvider: config.modelProvider }],
    ["approval_policy", { approvalPolicy: config.approvalPolicy }],
    ["approvals_reviewer", { approvalsReviewer: config.approvalsReviewer }],
    ...sandboxOf(config, scope),
    ["service_tier", { serviceTier: config.serviceTier }],
    ["model_reasoning_effort", { effort: config.effort }],
    ["model_reasoning_summary", { summary: config.summary }],
    ["model_verbosity", { verbosity: config.verbosity }],
    ["model_context_window", { contextWindow: config.contextWindow }],
    ["model_auto_compact_token_limit", { autoCompactTokens: config.autoCompactTokens }],
    ["personality", { personality: config.personality }],
    ["compact_prompt", { compactPrompt: config.compactPrompt }],
    ["review_model", { reviewModel: config.reviewModel }],
    ...searchOf(table, config),
  ];
  return Object.assign({}, ...known.filter(([key]) => Object.hasOwn(table, key)).map(([, change]) => change));
}

/** Throws if the requirements do not allow the requested search. */
function searchOf(table: Table, { webSearch }: Config): Change[] {
  const { web_search: asked } = table;
  if (webSearch === null && asked !== undefined && asked !== "disabled")
    throw fault("webSearchModeNotAllowed", String(asked));
  return [["web_search", { webSearch: webSearch ?? "disabled" }]];
}

/** `sandbox_workspace_write` applies only if the sandbox mode is `workspace-write`. */
function sandboxOf(config: Config, { config: below }: ConfigScope): Change[] {
  const { sandbox, permissionProfile } = below.sandbox;
  const isWrite = sandbox.type === "workspaceWrite" && permissionProfile === null;
  return [
    ["sandbox_workspace_write", isWrite ? { sandbox: config.workspaceWrite } : {}],
    ["sandbox_mode", config.sandbox],
    ["default_permissions", config.sandbox],
  ];
}

/** The configuration with a request's `config` applied. */
export function requestConfig(overrides: RequestConfig, scope: ConfigScope): Config {
  return overrides == null ? scope.config : read(nested(overrides), scope);
}

function read(table: Table, { config, home }: ConfigScope): Config {
  try {
    return readConfig(table, { home, below: config });
  } catch (cause) {
    throw fault("badConfig", (cause as Error).message);
  }
}

/** A key may be a dotted path, as with `-c`. */
export function nested(flat: Table): Table {
  const table: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(flat)) set(table, path.split("."), value);
  return table;
}
