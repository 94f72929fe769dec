import type { Tool } from "../tool.ts";
import type { Offer } from "./catalog.ts";
import type { ToolServerSettings } from "./settings.ts";

/** One server of a thread, and what it offers. */
export interface Offered {
  readonly server: ToolServerSettings;
  readonly offer: Offer;
}

/** What a thread has of tool servers for as long as it is loaded. */
export interface Bound {
  readonly tools: readonly Tool[];
  /** Why a tool that is offered is not there, by its name. */
  readonly missing: ReadonlyMap<string, string>;
  /** For people. */
  readonly problems: readonly string[];
}

/** Names that the host has for itself. */
export function takenByHost(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name, "a tool of the host"]));
}

/** `taken`: names that are not free, with whose they are. */
export function bind(offered: readonly Offered[], taken: ReadonlyMap<string, string>): Bound {
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
  return { tools: free(all, missing), missing, problems };
}

/** The list itself where there is one and all of it is free: most threads share it. */
function free(all: readonly (readonly Tool[])[], missing: ReadonlyMap<string, string>): readonly Tool[] {
  if (all.length === 1 && missing.size === 0) return all[0]!;
  return all.flat().filter(({ name }) => !missing.has(name));
}
