import type { LayeredConfig } from "../../config/layered-config.ts";
import { type McpScope, scopeOf } from "../../tool/mcp/lookup-scope.ts";
import { ownerOf } from "../authorize.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { loadScope } from "../params/thread-settings.ts";
import { page } from "../replies/list-page.ts";

/** Handlers that list MCP servers and their status. */
export function mcpServerHandlers(context: HandlerContext, layers: LayeredConfig): MethodHandlers {
  const { mcp } = context;
  return {
    async "mcpServerStatus/list"({ cursor, limit, serverName, threadId, detail }, { connection, reply }) {
      const scope = await mcpScope(context, connection, threadId);
      const isFull = detail !== "toolsAndAuthOnly";
      reply(page(await mcp.statuses(scope, { serverName: serverName ?? null, isFull }), cursor, limit));
    },

    async "config/mcpServer/reload"(_params, { connection, reply }) {
      await loadScope(context, connection);
      const { config } = await layers.snapshot();
      context.configure({ ...context.config, mcp: config.mcp });
      mcp.reload();
      reply({});
    },
  };
}

/**
 * The scope in which a request's MCP servers are looked up: that of a loaded thread, or of new threads of the sender.
 */
export async function mcpScope(
  context: HandlerContext,
  connection: Connection,
  threadId: string | null | undefined,
): Promise<McpScope> {
  if (threadId != null)
    return scopeOf(await (await context.registry.find(threadId, accessOf(connection))).peek());
  const { cwd } = reachOf(context, connection);
  return { owner: ownerOf(connection.meta.principal), cwd, roots: [cwd], own: {}, threadId: null };
}
