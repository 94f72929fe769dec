import type { McpServerStatus } from "@bobbin/protocol";
import { type ConfigLayers, isTable, type Table } from "../../catalog/config-layers.ts";
import { PERMISSION_PROFILES } from "../../config/sandbox.ts";
import type { Handlers } from "../call.ts";
import { type HandlerContext, reachOf } from "./context.ts";
import { page } from "./page.ts";

/** What a client offers people to choose from. Only what is really there: an empty list is an answer. */
export function catalogHandlers(context: HandlerContext, layers: ConfigLayers): Handlers {
  return {
    "modelProvider/capabilities/read"(_params, { reply }) {
      reply({ imageGeneration: false, webSearch: false });
    },

    "collaborationMode/list"(_params, { reply }) {
      reply({
        data: [
          { name: "Plan", mode: "plan", model: null, reasoning_effort: "medium" },
          { name: "Default", mode: "default", model: null, reasoning_effort: null },
        ],
      });
    },

    "permissionProfile/list"({ cursor, limit }, { connection, reply }) {
      const reach = reachOf(context, connection);
      const profiles = [...PERMISSION_PROFILES].map(([id, mode]) => ({
        id,
        description: null,
        allowed: mode !== "danger-full-access" || reach.grants("full-access"),
      }));
      const own = [...reach.config.permissionProfiles.values()].map(({ id, description }) => ({
        id,
        description,
        allowed: true,
      }));
      reply(page([...profiles, ...own], cursor, limit));
    },

    async "mcpServerStatus/list"({ cursor, limit, serverName }, { reply }) {
      const { mcp_servers: servers } = await layers.merged();
      const known = Object.entries(isTable(servers) ? servers : {})
        .filter(([name]) => serverName == null || name === serverName)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, server]) => notStarted(name, isTable(server) ? server : {}));
      reply(page(known, cursor, limit));
    },
  };
}

/** It is configured, and that is all that is known of it before it runs. */
function notStarted(name: string, { enabled, url }: Table): McpServerStatus {
  return {
    name,
    runtimeStatus: enabled === false ? "disabled" : "notStarted",
    pluginId: null,
    httpOrigin: typeof url === "string" && URL.canParse(url) ? new URL(url).origin : null,
    serverInfo: null,
    serverCapabilities: null,
    toolListMeta: null,
    tools: {},
    toolsError: null,
    resources: [],
    resourceTemplates: [],
    authStatus: "unknown",
  };
}
