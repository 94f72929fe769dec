/** Errors of MCP servers. */
export const MCP_ERRORS = {
  mcpLoginServerNotFound: {
    wire: -32600,
    retryable: false,
    text: (name: string) => `No MCP server named '${name}' found.`,
  },
  mcpLoginUnsupported: {
    wire: -32600,
    retryable: false,
    text: () => "OAuth login is only supported for streamable HTTP servers.",
  },
  mcpLoginFailed: {
    wire: -32603,
    retryable: true,
    text: (name: string, why: string) => `failed to login to MCP server '${name}': ${why}`,
  },
  reservedResourceMeta: {
    wire: -32600,
    retryable: false,
    text: (key: string) => `reserved resource read metadata key: ${key}`,
  },
  mcpServerNotFound: {
    wire: -32602,
    retryable: false,
    text: (name: string) => `there is no MCP server named ${JSON.stringify(name.slice(0, 200))}`,
  },
  mcpRequestFailed: { wire: -32603, retryable: false, text: (why: string) => why },
} as const;
