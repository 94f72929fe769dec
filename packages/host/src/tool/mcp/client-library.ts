export type Library = typeof import("@modelcontextprotocol/client");

/** Loads the MCP client library lazily: it is large, and most hosts have no MCP server. */
export function loadLibrary(): Promise<Library> {
  return import("@modelcontextprotocol/client");
}
