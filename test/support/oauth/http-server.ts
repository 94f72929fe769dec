import type {
  HttpTransport,
  McpServerSettings,
} from "../../../packages/host/src/tool/mcp/mcp-server-settings.ts";

/** The settings of an MCP server with a URL and no other keys in config.toml. */
export function httpServer(
  name: string,
  url: string,
  {
    transport,
    ...more
  }: Partial<Omit<McpServerSettings, "transport">> & { transport?: Partial<HttpTransport> } = {},
): McpServerSettings {
  return {
    name,
    transport: {
      kind: "http",
      url,
      bearerTokenEnvVar: null,
      headers: {},
      envHeaders: {},
      headersHelper: null,
      ...transport,
    },
    startupTimeoutMs: 10_000,
    toolTimeoutMs: 60_000,
    enabled: true,
    required: false,
    enabledTools: null,
    disabledTools: [],
    defaultApprovalMode: null,
    approvalModes: {},
    supportsParallelToolCalls: false,
    scopes: null,
    oauth: { clientId: null, clientSecret: null, callbackPort: null },
    oauthResource: null,
    isolation: null,
    origin: "host",
    ...more,
  };
}
