import { isAbsolute, normalize, resolve } from "node:path";
import { ConfigError } from "./config-error.ts";
import { list, subtable, type Table } from "./table.ts";
import { httpAddress } from "./tool-servers.ts";

/** What `allow` can grant to a subject besides folders and addresses. */
export const GRANTS = [
  /** Sandboxes that are none: `dangerFullAccess`, `externalSandbox`. */
  "full-access",
  /** Sandboxes with network access. */
  "network",
  /** MCP servers of their own. */
  "mcp-servers",
  /** Programs of this machine (`process/*`), outside of any sandbox: with it a subject can do what the host's own user can. */
  "processes",
  /** Settings of other agents on this machine: finding them, and taking them over. */
  "import",
] as const;
export type Grant = (typeof GRANTS)[number];

/** What the threads of a subject may reach of this machine. */
export interface SubjectRules {
  /** Folders, absolute. */
  readonly roots: readonly string[];
  /** Addresses of tool servers that it may bring along: each stands for itself and all that is below its path. */
  readonly toolServers: readonly string[];
  readonly allow: readonly Grant[];
}

/** `[subjects]`. */
export interface SubjectSettings {
  /** For subjects without a table of their own. */
  readonly others: SubjectRules;
  readonly named: ReadonlyMap<string, SubjectRules>;
}

const NOTHING: SubjectRules = { roots: [], toolServers: [], allow: [] };
const KEYS = ["roots", "tool_servers", "allow"];

/**
 * `[subjects]` is for all subjects, and `[subjects.NAME]` for one of them: a key there replaces that of all. Unknown keys
 * are errors: one that is misspelled would grant something else than was meant.
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
