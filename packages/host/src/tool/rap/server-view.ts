import type { RapServer, RapTool } from "@bobbin/protocol";
import type { ToolServerSettings } from "./rap-settings.ts";
import type { Offer } from "./server-catalog.ts";

/** A tool server as clients see it, without its calls and subscriptions. */
export type ServerView = Omit<RapServer, "pendingCalls" | "subscriptions">;

/** `missing`: why an offered tool cannot be used, by the tool's name. */
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
