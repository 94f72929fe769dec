import type { Tool } from "../tool.ts";
import type { ToolServerSettings } from "./rap-settings.ts";
import type { Offer } from "./server-catalog.ts";

/** A tool server of a thread, and the toolset that it offers. */
export interface ServerToolset {
  readonly server: ToolServerSettings;
  readonly offer: Offer;
}

/** The tools of a thread's tool servers, fixed while the thread is loaded. */
export interface BoundToolset {
  readonly tools: readonly Tool[];
  /** Why an offered tool cannot be used, by the tool's name. */
  readonly missing: ReadonlyMap<string, string>;
  /** Messages for users about servers and tools that are not available. */
  readonly problems: readonly string[];
}

/** The names of the host's own tools, in the form that `bind` takes. */
export function takenByHost(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name, "a tool of the host"]));
}

/**
 * Decides which offered tools a thread gets. If two servers offer the same tool name, neither tool is used. `taken`:
 * names that are already in use, each with a text that says what uses it.
 */
export function bind(offered: readonly ServerToolset[], taken: ReadonlyMap<string, string>): BoundToolset {
  const problems: string[] = [];
  const owners = new Map<string, string[]>();
  for (const { server, offer } of offered) {
    if (offer.kind !== "ready") {
      problems.push(`Tool server ${server.name} is not available: ${offer.says}.`);
      continue;
    }
    if (offer.stale !== null)
      problems.push(`Tool server ${server.name} is used as it was known before: ${offer.stale.says}.`);
    for (const { name } of offer.tools) owners.set(name, [...(owners.get(name) ?? []), server.name]);
  }
  const missing = new Map<string, string>();
  for (const [name, servers] of owners) {
    const whose = taken.get(name);
    if (servers.length > 1) missing.set(name, `${servers.join(" and ")} both have a tool of this name`);
    else if (whose !== undefined) missing.set(name, `${whose} has this name`);
  }
  for (const [name, why] of missing) problems.push(`The tool ${name} is not available: ${why}.`);
  const all = offered.flatMap(({ offer }) => (offer.kind === "ready" ? [offer.tools] : []));
  return { tools: withoutMissing(all, missing), missing, problems };
}

/**
 * Returns the server's own array if there is one server and all its tools are used, so that threads share the array.
 */
function withoutMissing(
  all: readonly (readonly Tool[])[],
  missing: ReadonlyMap<string, string>,
): readonly Tool[] {
  if (all.length === 1 && missing.size === 0) return all[0]!;
  return all.flat().filter(({ name }) => !missing.has(name));
}
