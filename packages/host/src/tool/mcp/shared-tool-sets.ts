import { resultText } from "../result-text.ts";
import type { SearchableTool } from "../search/tool-search.ts";
import type { Tool } from "../tool.ts";
import type { McpTool, ThreadServer } from "./mcp-interface.ts";
import { type McpToolPorts, mcpTool } from "./mcp-tool.ts";
import { modelNames } from "./tool-names.ts";

/** Limit on the characters of a server's instructions that models get. */
const MAX_INSTRUCTIONS = 4096;
/** Limit on the characters of a tool's description. */
const MAX_DESCRIPTION = 16 * 1024;
/** Limit on the cached tool sets. */
const MAX_SETS = 64;

/** The facts that a server's tools are built from. */
type Offer = Pick<ThreadServer, "name" | "tools" | "instructions">;

interface ToolSet {
  readonly offers: readonly Offer[];
  readonly isSearched: boolean;
  readonly tools: readonly Tool[];
  /** The tools that models have to search for. */
  readonly searched: readonly SearchableTool[];
}

/**
 * Builds the tools of MCP servers for models, and caches them. Threads with the same servers share one set, which is
 * recognized by the servers' tool arrays: they stay the same until the tools change.
 */
export class ToolSetCache {
  readonly #ports: McpToolPorts;
  /** The most recently used set is last. */
  #sets: readonly ToolSet[] = [];

  constructor(ports: McpToolPorts) {
    this.#ports = ports;
  }

  /** `searchAbove`: with more tools than this, none is listed, and models find them by `tool_search`. */
  of(servers: readonly ThreadServer[], searchAbove: number): Pick<ToolSet, "tools" | "searched"> {
    const offers = servers.map(({ name, tools, instructions }) => ({ name, tools, instructions }));
    const isSearched = offers.reduce((sum, { tools }) => sum + tools.length, 0) > searchAbove;
    const known = this.#sets.findLast((set) => set.isSearched === isSearched && isSame(set.offers, offers));
    if (known !== undefined && known === this.#sets.at(-1)) return known;
    const set = known ?? { offers, isSearched, ...this.#make(offers, isSearched) };
    this.#sets = [...this.#sets.filter((one) => one !== known).slice(1 - MAX_SETS), set];
    return set;
  }

  #make(offers: readonly Offer[], isSearched: boolean): Pick<ToolSet, "tools" | "searched"> {
    const names = modelNames(offers);
    const searched: SearchableTool[] = [];
    const tools = offers.flatMap(({ name: server, tools: offered, instructions }, at) => {
      const { namespace, tools: toolNames } = names[at]!;
      const namespaceDescription =
        instructions === null ? undefined : resultText(instructions, MAX_INSTRUCTIONS);
      return offered.map((offer, nth) => {
        const tool = withShortDescription(offer);
        const name = toolNames[nth]!;
        if (isSearched)
          searched.push({
            group: server,
            namespace,
            namespaceDescription,
            name,
            title: tool.title ?? tool.annotations?.title ?? "",
            description: tool.description ?? "",
            parameters: tool.inputSchema,
          });
        return mcpTool({ server, namespace, namespaceDescription, name }, tool, isSearched, this.#ports);
      });
    });
    return { tools, searched };
  }
}

function isSame(one: readonly Offer[], other: readonly Offer[]): boolean {
  return (
    one.length === other.length &&
    one.every(
      ({ name, tools, instructions }, at) =>
        name === other[at]!.name && tools === other[at]!.tools && instructions === other[at]!.instructions,
    )
  );
}

function withShortDescription(tool: McpTool): McpTool {
  const { description } = tool;
  if (description === undefined || description.length <= MAX_DESCRIPTION) return tool;
  return { ...tool, description: resultText(description, MAX_DESCRIPTION) };
}
