import type { AskForApproval } from "@bobbin/protocol";
import { readApprovalPolicy } from "./approval-policy.ts";
import { ConfigError } from "./bad-config-error.ts";
import { NO_HOOKS_REQUIRED } from "./hook-requirements.ts";
import { isTable, plain, valueAt } from "./layer.ts";
import { readMcpRules } from "./mcp-requirements.ts";
import { ignoredNetworkKeys, readNetworkRules } from "./network-requirements.ts";
import { LOGIN_METHODS, MANAGED, type Requirements } from "./requirements.ts";
import { readRequiredRules } from "./rule-requirements.ts";
import { flag, list, oneOf, subtable, type Table } from "./table-reader.ts";

const SANDBOX_MODES = ["read-only", "workspace-write", "danger-full-access", "external-sandbox"] as const;
const REVIEWERS = ["user", "auto_review", "guardian_subagent"] as const;
const WEB_SEARCH_MODES = ["disabled", "cached", "indexed", "live"] as const;

const LISTS = [
  "allowed_approval_policies",
  "allowed_approvals_reviewers",
  "allowed_sandbox_modes",
  "allowed_web_search_modes",
  "allowed_login_methods",
];
const FEATURES = ["features", "feature_requirements"];
const HOOKS = ["hooks", "allow_managed_hooks_only"];
const TABLES = ["mcp_servers", "experimental_network", "rules"];

/** Reads the requirements of one table. Hooks are left out: `readRequiredHooks` reads them file by file. */
export function readRequirements(table: Table): Requirements {
  const known = [
    ...[...LISTS, ...FEATURES, ...HOOKS, ...TABLES, "enforce_residency"],
    ...MANAGED.map(([key]) => key!),
  ];
  const sandboxModes = allowed(table, "allowed_sandbox_modes", SANDBOX_MODES);
  if (sandboxModes !== null && !sandboxModes.includes("read-only"))
    throw new ConfigError('allowed_sandbox_modes has to include "read-only"');
  const webSearchModes = allowed(table, "allowed_web_search_modes", WEB_SEARCH_MODES);
  return {
    approvalPolicies: readPolicies(table),
    approvalsReviewers:
      allowed(table, "allowed_approvals_reviewers", REVIEWERS)?.map((one) =>
        one === "user" ? "user" : "auto_review",
      ) ?? null,
    sandboxModes,
    // Web search can always be turned off.
    webSearchModes: webSearchModes && [...new Set([...webSearchModes, "disabled" as const])],
    loginMethods: allowed(table, "allowed_login_methods", LOGIN_METHODS),
    features: readFeatures(table),
    residency: oneOf(table, "enforce_residency", ["us"]) ?? null,
    hooks: NO_HOOKS_REQUIRED,
    mcpServers: readMcpRules(table),
    rules: readRequiredRules(table),
    network: readNetworkRules(table),
    values: MANAGED.reduce((values: Table, path) => withValue(values, path, valueAt(table, path)), {}),
    ignored: [...Object.keys(table).filter((key) => !known.includes(key)), ...ignoredNetworkKeys(table)],
  };
}

function allowed<const T extends string>(
  table: Table,
  key: string,
  words: readonly T[],
): readonly T[] | null {
  const values = list(table, key);
  if (values === undefined) return null;
  if (values.length === 0) throw new ConfigError(`${key}: expected at least one value`);
  return values.map((one) => oneOf({ [key]: one }, key, words)!);
}

function readPolicies(table: Table): readonly AskForApproval[] | null {
  const key = "allowed_approval_policies";
  const value = table[key];
  if (value === undefined) return null;
  if (!Array.isArray(value) || value.length === 0)
    throw new ConfigError(`${key}: expected a list of approval policies`);
  return value.map((one: unknown) => readApprovalPolicy({ approval_policy: one })!);
}

function readFeatures(table: Table): Readonly<Record<string, boolean>> {
  const pairs = FEATURES.flatMap((key) => {
    const features = subtable(table, key) ?? {};
    return Object.keys(features).map((name): [string, boolean] => [name, flag(features, name, `${key}.`)!]);
  });
  return Object.fromEntries(pairs);
}

function withValue(values: Table, [key, ...rest]: readonly string[], value: unknown): Table {
  if (value === undefined) return values;
  const below = values[key!];
  const inner = rest.length === 0 ? plain(value) : withValue(isTable(below) ? below : {}, rest, value);
  return { ...values, [key!]: inner };
}
