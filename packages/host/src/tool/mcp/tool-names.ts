import { createHash } from "node:crypto";

/** Limit on a full name (`namespace__tool`) in APIs without namespaces. */
const MAX_FULL = 64;
const BETWEEN = "__";
/** Limit on the length of a namespace. It leaves room for the tool's name. */
const MAX_NAMESPACE = 40;
const HASH = 10;

/** A server and its tools. */
export interface NamedServer {
  readonly name: string;
  readonly tools: readonly { readonly name: string }[];
}

/** The names that models see for one server's tools. */
export interface ModelNames {
  readonly namespace: string;
  /** In the same order as the server's tools. */
  readonly tools: readonly string[];
}

/**
 * The names that models see for MCP tools, one entry per server. They depend only on the names of the servers and
 * tools, so they are stable across restarts. If changed names collide, with or without namespaces, they get a digest
 * as a suffix.
 */
export function modelNames(servers: readonly NamedServer[]): readonly ModelNames[] {
  const namespaces = distinct(
    servers.map(({ name }) => ({ raw: name, name: `mcp__${plain(name)}`, exact: plain(name) === name })),
    MAX_NAMESPACE,
  );
  const tools = servers.flatMap((server, at) =>
    server.tools.map((tool) => ({ server: at, raw: tool.name, namespace: namespaces[at]! })),
  );
  const names = distinct(
    tools.map(({ raw, namespace }) => ({
      raw: `${namespace} ${raw}`,
      name: `${namespace}${BETWEEN}${plain(raw)}`,
      exact: plain(raw) === raw,
    })),
    MAX_FULL,
  );
  return servers.map((_, at) => ({
    namespace: namespaces[at]!,
    tools: tools.flatMap(({ server, namespace }, nth) =>
      server === at ? [names[nth]!.slice(namespace.length + BETWEEN.length)] : [],
    ),
  }));
}

interface Wanted {
  /** The full original name. Unique, unless a server lists a tool twice. */
  readonly raw: string;
  readonly name: string;
  /** The name is unchanged. */
  readonly exact: boolean;
}

/** Makes the names unique and short enough. */
function distinct(wanted: readonly Wanted[], max: number): readonly string[] {
  const all = new Map<string, Set<string>>();
  const exact = new Map<string, Set<string>>();
  for (const { raw, name, exact: isExact } of wanted) {
    add(all, name, raw);
    if (isExact) add(exact, name, raw);
  }
  return wanted.map(({ raw, name, exact: isExact }) => {
    const isFree = all.get(name)!.size === 1 || (isExact && exact.get(name)!.size === 1);
    return isFree && name.length <= max ? name : hashed(raw, name, max);
  });
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

function hashed(raw: string, name: string, max: number): string {
  const digest = createHash("sha256").update(raw).digest("hex").slice(0, HASH);
  return `${name.slice(0, max - HASH - 1)}_${digest}`;
}

/** Replaces all characters that APIs do not allow, and `-`, because models confuse it with `_`. */
function plain(name: string): string {
  return name.replace(/\W/g, "_") || "_";
}
