import { isAbsolute, normalize, resolve } from "node:path";
import { ConfigError } from "./bad-config-error.ts";
import { list, subtable, type Table } from "./table-reader.ts";
import { httpAddress } from "./tool-servers.ts";

/** The grants: permissions that `allow` can give to a subject, in addition to folders and addresses. */
export const GRANTS = [
  /** Sandbox policies without protection: `dangerFullAccess` and `externalSandbox`. */
  "full-access",
  /** Sandbox policies with network access. */
  "network",
  /** MCP servers that the subject defines itself. */
  "mcp-servers",
  /**
   * Programs on this machine outside of any sandbox (`process/*`). A subject with this grant can do all that the
   * host's own user can.
   */
  "processes",
  /** Finding and importing the settings of other agents on this machine. */
  "import",
] as const;
export type Grant = (typeof GRANTS)[number];

/** What a subject's threads may access on this machine. */
export interface SubjectRules {
  /** Absolute paths of folders. */
  readonly roots: readonly string[];
  /** URLs of tool servers that the subject may add. A URL also allows all URLs below its path. */
  readonly toolServers: readonly string[];
  /** Names of the MCP servers of config.toml that the subject's threads get. */
  readonly mcpServers: readonly string[];
  readonly allow: readonly Grant[];
}

/** The table `[subjects]`. */
export interface SubjectSettings {
  /** Rules for subjects without a table of their own. */
  readonly others: SubjectRules;
  readonly named: ReadonlyMap<string, SubjectRules>;
}

const NOTHING: SubjectRules = { roots: [], toolServers: [], mcpServers: [], allow: [] };
const KEYS = ["roots", "tool_servers", "mcp_servers", "allow"];

/**
 * Reads `[subjects]`, which applies to all subjects, and `[subjects.NAME]`, whose keys replace those of `[subjects]`.
 * Unknown keys are errors, because a misspelled key could grant more than intended.
 */
export function readSubjects(table: Table, home: string): SubjectSettings {
  const subjects = subtable(table, "subjects") ?? {};
  const isNamed = (key: string): boolean => isTable(subjects[key]);
  const general = Object.fromEntries(Object.entries(subjects).filter(([key]) => !isNamed(key)));
  const others = readRules(general, "subjects.", home, NOTHING);
  const named = Object.keys(subjects)
    .filter(isNamed)
    .map((name): [string, SubjectRules] => [
      name,
      readRules(subjects[name] as Table, `subjects.${name}.`, home, others),
    ]);
  return { others, named: new Map(named) };
}

function readRules(table: Table, at: string, home: string, below: SubjectRules): SubjectRules {
  const unknown = Object.keys(table).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    throw new ConfigError(`${at}${unknown} is not a key of this table; it has ${KEYS.join(", ")}`);
  return {
    roots: list(table, "roots", at)?.map((root) => folder(root, `${at}roots`, home)) ?? below.roots,
    toolServers:
      list(table, "tool_servers", at)?.map((url) => httpAddress(url, `${at}tool_servers`)) ??
      below.toolServers,
    mcpServers: list(table, "mcp_servers", at) ?? below.mcpServers,
    allow: list(table, "allow", at)?.map((name) => grant(name, `${at}allow`)) ?? below.allow,
  };
}

function folder(root: string, key: string, home: string): string {
  if (!isAbsolute(root)) throw new ConfigError(`${key}: "${root}" must be an absolute path`);
  const path = normalize(root);
  if (path === resolve(home))
    throw new ConfigError(
      `${key}: "${root}" is the home of this host, with its secrets and everybody's threads`,
    );
  return path;
}

function grant(name: string, key: string): Grant {
  const found = GRANTS.find((one) => one === name);
  if (found === undefined) throw new ConfigError(`${key}: "${name}" is not one of ${GRANTS.join(", ")}`);
  return found;
}

function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
