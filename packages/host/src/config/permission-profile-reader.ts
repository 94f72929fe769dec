import { homedir } from "node:os";
import { isAbsolute, join, normalize, resolve } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import type { FileAccess, FilePlace, FileRule, PermissionProfile } from "../sandbox/permission-profile.ts";
import { ConfigError } from "./bad-config-error.ts";
import { readNetwork } from "./network-hosts.ts";
import { subtable, type Table, text, wholeWithin } from "./table-reader.ts";

/** A permission profile as written, merged key by key with the profile that it extends. */
interface WrittenProfile {
  readonly filesystem: Table;
  readonly network: Table;
  readonly workspaceRoots: Table;
}

const SPECIAL: Readonly<Record<string, FilePlace>> = {
  ":root": { kind: "root" },
  ":minimal": { kind: "minimal" },
  ":tmpdir": { kind: "tmpdir" },
  ":slash_tmp": { kind: "slashTmp" },
  ":workspace_roots": { kind: "workspace", below: "" },
  ":project_roots": { kind: "workspace", below: "" },
};

/** Built-in profiles that a user's profile can extend. */
const BUILT_IN: Readonly<Record<string, WrittenProfile>> = {
  ":read-only": { filesystem: { ":root": "read" }, network: {}, workspaceRoots: {} },
  ":workspace": {
    filesystem: {
      ":root": "read",
      ":workspace_roots": { ".": "write" },
      ":slash_tmp": "write",
      ":tmpdir": "write",
    },
    network: {},
    workspaceRoots: {},
  },
};

const KEYS = ["description", "extends", "workspace_roots", "filesystem", "network"];
const DEFAULT_SCAN_DEPTH = 8;
const MAX_SCAN_DEPTH = 64;

/** Reads `[permissions.NAME]`, by name. */
export function readPermissionProfiles(table: Table): ReadonlyMap<string, PermissionProfile> {
  const all = subtable(table, "permissions") ?? {};
  return new Map(Object.keys(all).map((id) => [id, readProfile(id, all)]));
}

function readProfile(id: string, all: Table): PermissionProfile {
  const at = `permissions.${id}.`;
  if (id.startsWith(":"))
    throw new ConfigError(`permissions profile \`${id}\` uses a reserved built-in profile prefix`);
  const own = subtable(all, id, "permissions.") ?? {};
  const { filesystem, network, workspaceRoots } = resolved(id, all, []);
  const { glob_scan_max_depth: _, ...entries } = filesystem;
  const roots = Object.entries(workspaceRoots).filter(([, isOn]) => isOn === true);
  const depth = wholeWithin(filesystem, "glob_scan_max_depth", 1, MAX_SCAN_DEPTH, `${at}filesystem.`);
  return {
    id,
    description: text(own, "description", at) ?? null,
    extends: text(own, "extends", at) ?? null,
    workspaceRoots: roots.map(([root]) => expanded(root)),
    rules: Object.entries(entries).flatMap(([path, access]) => rulesOf(path, access, `${at}filesystem.`)),
    globScanMaxDepth: depth ?? DEFAULT_SCAN_DEPTH,
    network: readNetwork(network, `${at}network.`),
  };
}

/** Merges a profile with the profiles that it extends. */
function resolved(id: string, all: Table, from: readonly string[]): WrittenProfile {
  if (from.includes(id))
    throw new ConfigError(`permissions profile inheritance cycle detected: ${[...from, id].join(" -> ")}`);
  const by = from.at(-1);
  const builtIn = BUILT_IN[id];
  if (builtIn !== undefined) return builtIn;
  if (!Object.hasOwn(all, id))
    throw new ConfigError(
      id.startsWith(":")
        ? `permissions profile \`${by}\` cannot extend unsupported built-in profile \`${id}\``
        : `permissions profile \`${by}\` extends undefined profile \`${id}\``,
    );
  const at = `permissions.${id}.`;
  const own = subtable(all, id, "permissions.")!;
  const wrong = Object.keys(own).find((key) => !KEYS.includes(key));
  // Unknown keys are errors: ignoring one could allow what its author meant to deny.
  if (wrong !== undefined)
    throw new ConfigError(`${at}${wrong} is unknown; expected one of ${KEYS.join(", ")}`);
  const parent = text(own, "extends", at);
  const below = parent === undefined ? undefined : resolved(parent, all, [...from, id]);
  const part = (key: string, under: Table | undefined): Table =>
    merged(under ?? {}, subtable(own, key, at) ?? {});
  return {
    filesystem: part("filesystem", below?.filesystem),
    network: part("network", below?.network),
    workspaceRoots: part("workspace_roots", below?.workspaceRoots),
  };
}

function merged(below: Table, above: Table): Table {
  const all: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const old = Object.hasOwn(all, key) ? all[key] : undefined;
    all[key] = isTable(old) && isTable(value) ? merged(old, value) : value;
  }
  return all;
}

function rulesOf(path: string, value: unknown, at: string): readonly FileRule[] {
  if (!isTable(value))
    return [{ place: placeOf(path, accessOf(value, at + path), at), access: accessOf(value, at + path) }];
  return Object.entries(value).map(([below, accessValue]) => {
    const access = accessOf(accessValue, `${at}${path}.${below}`);
    return { place: below === "." ? placeOf(path, access, at) : placeBelow(path, below, access, at), access };
  });
}

function accessOf(value: unknown, at: string): FileAccess {
  // `none` is the earlier name of `deny`.
  if (value === "none") return "deny";
  if (value === "read" || value === "write" || value === "deny") return value;
  throw new ConfigError(`${at}: ${JSON.stringify(value)} is not one of read, write, deny`);
}

function placeOf(path: string, access: FileAccess, at: string): FilePlace {
  if (path.startsWith(":")) {
    const special = SPECIAL[path];
    if (special === undefined)
      throw new ConfigError(`${at}${path} is not one of ${Object.keys(SPECIAL).join(", ")}`);
    return special;
  }
  const literal = withoutSubtree(path, access, at);
  const full = expanded(literal ?? path);
  if (!isAbsolute(full))
    throw new ConfigError(`filesystem path \`${path}\` must be absolute, use \`~/...\`, or start with \`:\``);
  if (literal !== undefined) return { kind: "path", path: normalize(full) };
  const [folder, pattern] = splitPattern(full);
  return { kind: "pattern", folder, pattern };
}

function placeBelow(path: string, below: string, access: FileAccess, at: string): FilePlace {
  if (below.split("/").some((part) => part === "" || part === "." || part === ".."))
    throw new ConfigError(
      `filesystem subpath \`${below}\` must be a descendant path without \`.\` or \`..\` components`,
    );
  const literal = withoutSubtree(below, access, at);
  const outer = placeOf(path, access, at);
  if (outer.kind === "workspace")
    return literal === undefined
      ? { kind: "pattern", folder: null, pattern: below }
      : { kind: "workspace", below: literal };
  if (outer.kind !== "path")
    throw new ConfigError(`filesystem path \`${path}\` does not support nested entries`);
  if (literal !== undefined) return { kind: "path", path: join(outer.path, literal) };
  return { kind: "pattern", folder: outer.path, pattern: below };
}

/**
 * Returns a path without wildcards; `/**` at the end stands for the folder. Undefined for a path with other
 * wildcards, which can only be denied.
 */
function withoutSubtree(path: string, access: FileAccess, at: string): string | undefined {
  const isPattern = (one: string): boolean => /[*?[\]]/.test(one);
  if (!isPattern(path)) return path;
  const folder = path.replace(/\/\*\*$/, "");
  if (!isPattern(folder) && access !== "deny") return folder;
  if (access === "deny") return undefined;
  throw new ConfigError(
    `${at}${path}: a pattern can only be denied; name a path, or a folder with /** at the end`,
  );
}

/** Splits a pattern into the folder before its first wildcard, and the rest. */
function splitPattern(path: string): readonly [folder: string, pattern: string] {
  const parts = path.split("/");
  const first = parts.findIndex((part) => /[*?[\]]/.test(part));
  return [parts.slice(0, first).join("/") || "/", parts.slice(first).join("/")];
}

function expanded(path: string): string {
  return path === "~" ? homedir() : path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Converts a profile to the closest `SandboxPolicy` of the protocol. Clients show this policy, and patches are
 * checked against it.
 */
export function policyOfProfile({ rules, workspaceRoots, network }: PermissionProfile): SandboxPolicy {
  const writes = rules.filter(({ access }) => access === "write").map(({ place }) => place);
  const isWorkspace = writes.some((place) => place.kind === "workspace" && place.below === "");
  const paths = writes.flatMap((place) =>
    place.kind === "path" ? [place.path] : place.kind === "root" ? ["/"] : [],
  );
  // The protocol has no policy with writable folders and a read-only workspace.
  if (!isWorkspace) return { type: "readOnly", networkAccess: network !== false };
  return {
    type: "workspaceWrite",
    writableRoots: [...workspaceRoots.filter(isAbsolute), ...paths].map((path) => resolve(path)),
    networkAccess: network !== false,
    excludeTmpdirEnvVar: !writes.some(({ kind }) => kind === "tmpdir"),
    excludeSlashTmp: !writes.some(({ kind }) => kind === "slashTmp"),
  };
}
