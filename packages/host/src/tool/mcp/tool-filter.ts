import type { McpTool } from "./mcp-interface.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import type { ServerOffer } from "./server-offer.ts";

/** Cached, so that threads with the same server and filters get the same array. Other caches compare these arrays. */
const filtered = new WeakMap<ServerOffer, Map<string, readonly McpTool[]>>();

/** The server's tools, filtered by `enabled_tools` and `disabled_tools`. */
export function offeredTools(
  offered: ServerOffer,
  { enabledTools, disabledTools }: McpServerSettings,
): readonly McpTool[] {
  if (enabledTools === null && disabledTools.length === 0) return offered.tools;
  const key = JSON.stringify([enabledTools, disabledTools]);
  let lists = filtered.get(offered);
  if (lists === undefined) {
    lists = new Map();
    filtered.set(offered, lists);
  }
  let tools = lists.get(key);
  if (tools === undefined) {
    tools = offered.tools.filter(
      ({ name }) => (enabledTools === null || enabledTools.includes(name)) && !disabledTools.includes(name),
    );
    lists.set(key, tools);
  }
  return tools;
}
