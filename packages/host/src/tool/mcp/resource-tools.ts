import type { ThreadState } from "../../core/state.ts";
import { messageOf } from "../../errors.ts";
import type { Clock } from "../../platform/platform.ts";
import { type Invocation, refusal, type Step, type Tool } from "../tool.ts";
import { endedItem, type McpCall, startedItem } from "./call-item.ts";
import { type McpBlock, McpError, type McpTool, type ThreadServer } from "./mcp-interface.ts";
import { shownResult } from "./result-for-clients.ts";
import { modelOutput } from "./result-for-model.ts";
import { readResult } from "./result-parts.ts";

export interface ResourceToolPorts {
  readonly clock: Clock;
  serversOf(thread: ThreadState): readonly ThreadServer[];
}

/** The server name that clients see for a call to all servers. */
const ALL_SERVERS = "bobbin";
/** Limit on the resources per server in a list. */
const MAX_LISTED = 200;

interface Listing {
  readonly name: string;
  readonly kind: "resources" | "resourceTemplates";
  readonly about: string;
  page(
    server: ThreadServer,
    cursor: string | null,
    signal: AbortSignal,
  ): Promise<{ readonly entries: readonly object[]; readonly nextCursor: string | null }>;
}

const LISTINGS: readonly Listing[] = [
  {
    name: "list_mcp_resources",
    kind: "resources",
    about: "Lists what MCP servers offer to read: files, schemas of databases and the like.",
    page: async (server, cursor, signal) => {
      const { resources, nextCursor } = await server.listResources(cursor, signal);
      return { entries: resources, nextCursor };
    },
  },
  {
    name: "list_mcp_resource_templates",
    kind: "resourceTemplates",
    about: "Lists templates of addresses that MCP servers offer to read, with parameters to fill in.",
    page: async (server, cursor, signal) => {
      const { resourceTemplates, nextCursor } = await server.listResourceTemplates(cursor, signal);
      return { entries: resourceTemplates, nextCursor };
    },
  },
];

/** The tools `list_mcp_resources`, `list_mcp_resource_templates` and `read_mcp_resource`, shared by all threads. */
export function resourceTools(ports: ResourceToolPorts): readonly Tool[] {
  return [...LISTINGS.map((listing) => listTool(listing, ports)), readTool(ports)];
}

/** The content blocks of a result. */
type Parts = readonly McpBlock[];

function listTool(listing: Listing, ports: ResourceToolPorts): Tool {
  const { name, about, kind } = listing;
  const parameters = {
    type: "object",
    properties: {
      server: { type: "string", description: "The server to ask; all of them if left out." },
      cursor: { type: "string", description: "`nextCursor` of the page before; it needs `server`." },
    },
    additionalProperties: false,
  };
  return tool(name, about, parameters, ports, async (args, servers, signal) => {
    const { server: wanted, cursor = null } = args;
    if (wanted === undefined && cursor !== null) throw new McpError("invalid", "`cursor` needs `server`.");
    const pages = await Promise.all(
      servers.map(async (server) => {
        try {
          const { entries, nextCursor } = await listing.page(server, cursor, signal);
          const listed = entries.slice(0, MAX_LISTED).map((entry) => ({ server: server.name, ...entry }));
          return { listed, nextCursor, error: undefined };
        } catch (cause) {
          signal.throwIfAborted();
          // If all servers are asked, the failure of one does not hide the results of the others.
          if (wanted !== undefined) throw cause;
          return { listed: [], nextCursor: null, error: `${server.name}: ${messageOf(cause)}` };
        }
      }),
    );
    const errors = pages.flatMap(({ error }) => error ?? []);
    const [first] = pages;
    const text = JSON.stringify({
      ...(wanted !== undefined && { server: wanted }),
      [kind]: pages.flatMap(({ listed }) => listed),
      ...(wanted !== undefined && first?.nextCursor != null && { nextCursor: first.nextCursor }),
      ...(errors.length > 0 && { errors }),
    });
    return [{ type: "text", text }];
  });
}

function readTool(ports: ResourceToolPorts): Tool {
  const parameters = {
    type: "object",
    properties: {
      server: { type: "string", description: "The server that offers it, as list_mcp_resources names it." },
      uri: { type: "string", description: "The resource's address." },
    },
    required: ["server", "uri"],
    additionalProperties: false,
  };
  const about = "Reads what an MCP server offers at an address.";
  return tool("read_mcp_resource", about, parameters, ports, async ({ uri = "" }, [server], signal) => {
    const { contents } = await server!.readResource(uri, signal);
    return contents.map((resource) => ({ type: "resource", resource }));
  });
}

interface ResourceArguments {
  readonly server?: string;
  readonly cursor?: string;
  readonly uri?: string;
}

function tool(
  name: string,
  description: string,
  parameters: object,
  { clock, serversOf }: ResourceToolPorts,
  read: (args: ResourceArguments, servers: readonly ThreadServer[], signal: AbortSignal) => Promise<Parts>,
): Tool {
  const shown: McpTool = { name, inputSchema: {} };
  const callOf = (invocation: Invocation): McpCall => {
    const { server = ALL_SERVERS } = invocation.args as ResourceArguments;
    return { server, tool: shown, invocation };
  };
  const serversFor = ({ thread, args }: Invocation): readonly ThreadServer[] => {
    const { server } = args as ResourceArguments;
    const all = serversOf(thread);
    return server === undefined
      ? all.filter(({ hasResources }) => hasResources)
      : all.filter((one) => one.name === server);
  };
  return {
    name,
    namespace: null,
    parameters,
    spec: { kind: "function", name, namespace: null, description, parameters, strict: false },
    begin(invocation): Step {
      const { server } = invocation.args as ResourceArguments;
      if (server !== undefined && serversFor(invocation).length === 0)
        return refusal(`There is no MCP server named ${server.slice(0, 200)}.`);
      // Reading has no effect, so the call may be repeated after a crash.
      return { kind: "dispatch", again: true, item: startedItem(callOf(invocation)) };
    },
    async perform(invocation, signal): Promise<Step> {
      const call = callOf(invocation);
      const calledAt = clock.now();
      try {
        const servers = serversFor(invocation);
        if (servers.length === 0 && call.server !== ALL_SERVERS)
          throw new McpError("unavailable", `The MCP server ${call.server} is not there any more.`);
        const content = await read(invocation.args as ResourceArguments, servers, signal);
        const parts = readResult({ content, structuredContent: null, isError: false, meta: null });
        const end = { success: true, result: shownResult(parts), error: null, at: clock.now(), calledAt };
        return { kind: "settle", output: modelOutput(parts), success: true, item: endedItem(call, end) };
      } catch (cause) {
        signal.throwIfAborted();
        const error = messageOf(cause);
        const end = { success: false, result: null, error, at: clock.now(), calledAt };
        return { kind: "settle", output: error, success: false, item: endedItem(call, end) };
      }
    },
  };
}
