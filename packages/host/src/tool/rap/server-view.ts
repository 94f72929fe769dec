import type { RapServer, RapTool } from "@bobbin/protocol";
import type { Offer } from "./catalog.ts";
import type { ToolServerSettings } from "./settings.ts";

/** A server as people see it, without what is under way at it. */
export type ServerView = Omit<RapServer, "pendingCalls" | "subscriptions">;

/** `missing`: why a tool that is offered is not there, by its name. */
export function serverView(
  { name, url }: ToolServerSettings,
  offer: Offer | undefined,
  missing: ReadonlyMap<string, string>,
): ServerView {
  if (offer === undefined) return { name, url, health: "unknown", error: null, tools: [] };
  if (offer.kind !== "ready") return { name, url, health: offer.kind, error: offer.says, tools: [] };
  const tools = offer.toolset.tools.map((tool): RapTool => {
    const reason = missing.get(tool.name) ?? null;
    return { name: tool.name, description: tool.description, available: reason === null, reason };
  });
  return { name, url, health: offer.stale?.kind ?? "ready", error: offer.stale?.says ?? null, tools };
}
