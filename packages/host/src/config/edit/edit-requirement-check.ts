import { type ErrorCode, Fault, fault } from "../../errors.ts";
import { readApprovalPolicy } from "../approval-policy.ts";
import { isTable } from "../layer.ts";
import { allowsServer } from "../mcp-requirements.ts";
import { readMcpServers } from "../mcp-servers.ts";
import { mayAllow } from "../network-requirements.ts";
import { readPermissionProfiles } from "../permission-profile-reader.ts";
import { checkRequestedSettings } from "../requirement-check.ts";
import { managedKey, type Profiles, type Requirements } from "../requirements.ts";
import { ofProfile, sandboxPolicy } from "../sandbox-settings.ts";
import { oneOf, type Table, text } from "../table-reader.ts";
import { changed, keysOf } from "./config-edits.ts";
import type { ConfigEditBatch } from "./config-writer.ts";

/**
 * Throws if an edit of config.toml writes a managed or a disallowed value. Malformed edits are ignored here, because
 * the writer refuses them.
 */
export function refuseWrite(requirements: Requirements, edits: ConfigEditBatch["edits"]): void {
  for (const { keyPath, value, mergeStrategy } of edits) {
    const path = keysOf(keyPath);
    if (typeof path === "string") continue;
    const key = managedKey(requirements, path);
    if (key !== undefined)
      throw asWrite(fault("configRequirementReadonly", key), "configRequirementReadonly");
    // Removing a value is always allowed.
    if (value == null) continue;
    try {
      refuseTable(requirements, changed({}, { path, value, mergeStrategy }));
    } catch (cause) {
      if (!(cause instanceof Fault)) continue;
      throw asWrite(cause, "configValidationError");
    }
  }
}

/**
 * Throws if an edit would configure an MCP server that is not allowed. `after` is the whole configuration after the
 * edit.
 */
export function refuseServers(
  { mcpServers }: Requirements,
  edits: ConfigEditBatch["edits"],
  after: Table,
): void {
  if (mcpServers === null) return;
  const paths = edits.filter(({ value }) => value != null).map(({ keyPath }) => keysOf(keyPath));
  const isEdited = (name: string): boolean =>
    paths.some(
      (path) =>
        Array.isArray(path) && path[0] === "mcp_servers" && (path[1] === undefined || path[1] === name),
    );
  const refused = readMcpServers(after).servers.find(
    (server) => isEdited(server.name) && !allowsServer(mcpServers, server),
  );
  if (refused !== undefined)
    throw asWrite(fault("mcpServerNotAllowed", refused.name), "configValidationError");
}

/**
 * Throws if an edit would make a profile of the user the default that is not allowed. `after` is the whole configuration
 * after the edit.
 */
export function refuseProfile(
  requirements: Requirements,
  edits: ConfigEditBatch["edits"],
  after: Table,
): void {
  const isEdited = edits.some(
    ({ keyPath, value }) =>
      value != null && ["default_permissions", "permissions"].includes(keysOf(keyPath)[0]!),
  );
  const id = text(after, "default_permissions");
  if (!isEdited || id === undefined || id.startsWith(":")) return;
  const profiles = readPermissionProfiles(after);
  try {
    checkRequestedSettings(requirements, ofProfile(id, profiles), profiles);
  } catch (cause) {
    throw cause instanceof Fault ? asWrite(cause, "configValidationError") : cause;
  }
}

/** Adds the error code in the field where clients of the Codex CLI look for it. */
function asWrite({ code, message }: Fault, writeCode: ErrorCode): Fault {
  return new Fault(code, message, { config_write_error_code: writeCode });
}

function refuseTable(requirements: Requirements, table: Table): void {
  const approvalPolicy = readApprovalPolicy(table);
  const mode = oneOf(table, "sandbox_mode", ["read-only", "workspace-write", "danger-full-access"]);
  const reviewer = text(table, "approvals_reviewer");
  const profile = text(table, "default_permissions");
  checkRequestedSettings(
    requirements,
    {
      ...(approvalPolicy !== undefined && { approvalPolicy }),
      ...(mode !== undefined && { sandbox: sandboxPolicy(mode, ANY_WRITE) }),
      ...(profile?.startsWith(":") && ofProfile(profile)),
      ...(reviewer !== undefined && { approvalsReviewer: reviewer === "user" ? "user" : "auto_review" }),
    },
    NO_PROFILES,
  );
  const search = oneOf(table, "web_search", ["disabled", "cached", "indexed", "live"]);
  if (search !== undefined && requirements.webSearchModes?.includes(search) === false)
    throw fault("webSearchModeNotAllowed", search);
  const features = isTable(table["features"]) ? table["features"] : {};
  for (const [name, pinned] of Object.entries(requirements.features))
    if (features[name] !== undefined && features[name] !== pinned) throw fault("featurePinned", name, pinned);
  refuseHooks(requirements, table["hooks"]);
  refuseNetwork(requirements, table);
}

/** Edits of `hooks.state` are allowed, because they cannot make another hook run. */
function refuseHooks({ hooks }: Requirements, value: unknown): void {
  if (hooks.managedOnly !== true || !isTable(value)) return;
  const event = Object.keys(value).find((key) => key !== "state");
  if (event !== undefined) throw fault("hookNotManaged", `hooks.${event}`);
}

function refuseNetwork({ network: rules }: Requirements, table: Table): void {
  if (rules === null || rules.enabled === false) return;
  const { network_proxy: proxy } = isTable(table["features"]) ? table["features"] : {};
  if (proxy === false || (isTable(proxy) && proxy["enabled"] === false))
    throw fault("networkByHostRequired", "features.network_proxy");
  const profiles = isTable(table["permissions"]) ? Object.values(table["permissions"]) : [];
  const networks = [proxy, ...profiles.map((profile) => isTable(profile) && profile["network"])];
  for (const domains of networks.map((network) => isTable(network) && network["domains"]))
    for (const [pattern, access] of isTable(domains) ? Object.entries(domains) : [])
      if (access === "allow" && !mayAllow(rules, pattern)) throw fault("networkHostNotAllowed", pattern);
}

/** The user's own profiles are checked by `refuseProfile`. */
const NO_PROFILES: Profiles = new Map();

/** A placeholder, because the writable folders do not matter for this check. */
const ANY_WRITE = { type: "workspaceWrite" } as const;
