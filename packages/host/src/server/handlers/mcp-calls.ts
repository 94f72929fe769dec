import { fault } from "../../errors.ts";
import { ownerOf } from "../authorize.ts";
import { accessOf, type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

/** Handlers for MCP tool calls, resource reads and prompts of clients, outside of any turn. */
export function mcpCallHandlers(context: HandlerContext): MethodHandlers {
  const { registry, mcp, mcpTools } = context;
  return {
    async "mcpServer/tool/call"(
      { threadId, server, tool, arguments: args, _meta: meta },
      { connection, reply },
    ) {
      const actor = await registry.find(threadId, accessOf(connection));
      const state = await actor.peek();
      await mcpTools.ready(state);
      const { direct } = await mcpTools.source();
      reply(await direct.call(connection, state, { server, tool, args, meta }));
    },

    async "mcpServer/prompt/list"({ threadId }, { connection, reply }) {
      const state = await (await registry.find(threadId, accessOf(connection))).peek();
      await mcpTools.ready(state);
      // Most threads have no MCP server. For them no code of MCP is loaded.
      if (mcp.of(state).length === 0) return reply({ data: [], warnings: [] });
      const { direct } = await mcpTools.source();
      reply(await direct.prompts(connection, state));
    },

    async "mcpServer/prompt/get"({ threadId, server, name, arguments: args = {} }, { connection, reply }) {
      const state = await (await registry.find(threadId, accessOf(connection))).peek();
      await mcpTools.ready(state);
      const { direct } = await mcpTools.source();
      reply(await direct.prompt(connection, state, { server, prompt: name, args }));
    },

    async "mcpServer/resource/read"({ threadId, server, uri, _meta }, { connection, reply }) {
      const meta = resourceMeta(_meta ?? undefined);
      const { direct } = await mcpTools.source();
      if (threadId == null) {
        const { cwd } = reachOf(context, connection);
        const owner = ownerOf(connection.meta.principal);
        const scope = { owner, cwd, roots: [cwd], own: {}, threadId: null };
        const read = (signal: AbortSignal) => mcp.readResource(scope, server, uri, signal, meta);
        return reply(await direct.read(connection, null, server, read));
      }
      const state = await (await registry.find(threadId, accessOf(connection))).peek();
      await mcpTools.ready(state);
      const found = mcp.of(state).find(({ name }) => name === server);
      reply(
        await direct.read(connection, threadId, server, async (signal) =>
          found?.readResource(uri, signal, meta),
        ),
      );
    },
  };
}

/** Metadata that servers take as the host's own. The Codex CLI refuses the same keys. */
const RESERVED = ["threadId", "x-codex-turn-metadata"];

/** The metadata of a resource read, without the token of a progress that nobody would be notified of. */
function resourceMeta(asked: Readonly<Record<string, unknown>> | undefined): object | undefined {
  if (asked === undefined) return undefined;
  const reserved = RESERVED.find((key) => Object.hasOwn(asked, key));
  if (reserved !== undefined) throw fault("reservedResourceMeta", reserved);
  const { progressToken: _, ...meta } = asked;
  return meta;
}
