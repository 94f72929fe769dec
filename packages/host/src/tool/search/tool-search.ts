import { type FoundTool, searchOutput, TOOL_SEARCH } from "../../model/tool-search.ts";
import type { Tool } from "../tool.ts";
import { SearchIndex } from "./search-index.ts";

const DEFAULT_LIMIT = 8;
const MAX_LIMIT = 24;
/** Limit on the characters of tool definitions that one search returns. */
const MAX_OUTPUT = 64 * 1024;
const MAX_ABOUT = 4096;
/** Limit on the groups that the tool's description names. */
const MAX_NAMED = 50;
/** Limit on the cached search tools. */
const MAX_CACHED = 64;

/** A tool that can be found. */
export interface SearchableTool extends FoundTool {
  /** What the tool belongs to, for people and for the search: an MCP server, or a client's namespace. */
  readonly group: string;
  readonly title: string;
}

/**
 * Makes the tool `tool_search` for lists of tools, and caches it. Threads with the same lists share one; a list is
 * recognized by its identity.
 */
export class ToolSearchCache {
  /** The most recently used one is last. */
  #made: readonly { readonly lists: readonly (readonly SearchableTool[])[]; readonly tool: Tool }[] = [];

  of(lists: readonly (readonly SearchableTool[])[]): Tool {
    const last = this.#made.at(-1);
    if (last !== undefined && isSame(last.lists, lists)) return last.tool;
    const known = this.#made.find((one) => isSame(one.lists, lists));
    const made = known ?? { lists, tool: toolSearch(lists.flat()) };
    this.#made = [...this.#made.filter((one) => one !== known).slice(1 - MAX_CACHED), made];
    return made.tool;
  }
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((list, at) => list === other[at]);
}

const parameters = {
  type: "object",
  properties: {
    query: { type: "string", description: "Words that say what the tool should do, or parts of its name." },
    limit: {
      type: "number",
      description: `How many tools to show at most; ${DEFAULT_LIMIT} if left out.`,
    },
  },
  required: ["query"],
  additionalProperties: false,
};

/** The tool `tool_search`: finds tools that are not listed for the model. */
function toolSearch(tools: readonly SearchableTool[]): Tool {
  const groups = [...new Set(tools.map(({ group }) => group))];
  const named = groups.slice(0, MAX_NAMED).join(", ");
  const more = groups.length > MAX_NAMED ? ` and ${groups.length - MAX_NAMED} more` : "";
  // Built at the first search, because most threads never search.
  let index: SearchIndex<SearchableTool> | undefined;
  const find = (query: string, limit: number): readonly SearchableTool[] => {
    index ??= new SearchIndex(tools.map(searched));
    return index.find(query, limit);
  };
  return {
    name: TOOL_SEARCH,
    namespace: null,
    parameters,
    spec: {
      kind: "toolSearch",
      name: TOOL_SEARCH,
      description: `Finds tools that are not listed here: ${tools.length} tools of ${named}${more}. What it finds can be called from then on.`,
      parameters,
    },
    begin({ args }) {
      const { query, limit } = args as { readonly query: string; readonly limit?: number };
      const most = Math.min(MAX_LIMIT, Math.max(1, Math.floor(limit ?? DEFAULT_LIMIT)));
      const output = searchOutput(within(described(find(query, most))));
      return { kind: "settle", output, success: true };
    },
  };
}

function searched(tool: SearchableTool) {
  const { group, name, title, description, parameters: schema } = tool;
  const { properties } = Object(schema) as { readonly properties?: unknown };
  const names = Object.keys(Object(properties) as object).join(" ");
  const about = `${title} ${description} ${names}`.slice(0, MAX_ABOUT);
  return { value: tool, name: `${group} ${name}`, about };
}

/** The fields that the model gets. A namespace's description is included only once. */
function described(found: readonly FoundTool[]): readonly FoundTool[] {
  const describedNamespaces = new Set<string>();
  return found.map(({ namespace, namespaceDescription, name, description, parameters: schema }) => {
    const words = describedNamespaces.has(namespace) ? undefined : namespaceDescription;
    describedNamespaces.add(namespace);
    return {
      namespace,
      ...(words && { namespaceDescription: words }),
      name,
      description,
      parameters: schema,
    };
  });
}

/** The best matches that fit into the limit. */
function within(found: readonly FoundTool[]): readonly FoundTool[] {
  let left = MAX_OUTPUT;
  return found.filter((tool) => {
    left -= JSON.stringify(tool).length;
    return left >= 0;
  });
}
