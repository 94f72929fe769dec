import { type Config, readConfig } from "../../config/config.ts";
import { set } from "../../config/load.ts";
import type { Table } from "../../config/table.ts";
import type { ThreadSettings } from "../../core/life/records.ts";
import { fault } from "../../errors.ts";

/** What a request is read against: the configuration of whoever asks. */
export interface ConfigScope {
  readonly config: Config;
  readonly home: string;
}

type Given = Table | null | undefined;
type Change = readonly [key: string, Partial<ThreadSettings>];

/** `config` of a request: values of config.toml for this thread. Keys that are not a thread's are left alone. */
export function configured(given: Given, scope: ConfigScope): Partial<ThreadSettings> {
  if (given == null) return {};
  const table = nested(given);
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
  ];
  return Object.assign({}, ...known.filter(([key]) => Object.hasOwn(table, key)).map(([, change]) => change));
}

/** What is said of the workspace alone counts where the workspace may be written to. */
function sandboxOf(config: Config, { config: below }: ConfigScope): Change[] {
  const { sandbox, permissionProfile } = below.sandbox;
  const isWrite = sandbox.type === "workspaceWrite" && permissionProfile === null;
  return [
    ["sandbox_workspace_write", isWrite ? { sandbox: config.workspaceWrite } : {}],
    ["sandbox_mode", config.sandbox],
    ["default_permissions", config.sandbox],
  ];
}

/** All of config.toml as a request would have it. */
export function requestConfig(given: Given, scope: ConfigScope): Config {
  return given == null ? scope.config : read(nested(given), scope);
}

function read(table: Table, { config, home }: ConfigScope): Config {
  try {
    return readConfig(table, { home, below: config });
  } catch (cause) {
    throw fault("badConfig", (cause as Error).message);
  }
}

/** Keys may be paths, as with `-c`. */
function nested(given: Table): Table {
  const table: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(given)) set(table, path.split("."), value);
  return table;
}
