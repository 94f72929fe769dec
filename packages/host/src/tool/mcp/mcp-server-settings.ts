/** An entry `[mcp_servers.NAME]` of the configuration. */
export interface McpServerSettings {
  readonly name: string;
  readonly transport: StdioTransport | HttpTransport;
  /** Time limit from the start of the server until it has listed its tools. */
  readonly startupTimeoutMs: number;
  /** Time limit for a call without progress. */
  readonly toolTimeoutMs: number;
  readonly enabled: boolean;
  /** Whether turns wait until the server is connected. */
  readonly required: boolean;
  /** If set, threads get only these tools of the server; null for all tools. */
  readonly enabledTools: readonly string[] | null;
  readonly disabledTools: readonly string[];
  readonly defaultApprovalMode: McpApprovalMode | null;
  /** When the calls of single tools need approval, by the tool's name. */
  readonly approvalModes: Readonly<Record<string, McpApprovalMode>>;
  readonly supportsParallelToolCalls: boolean;
  readonly scopes: readonly string[] | null;
  readonly oauth: {
    readonly clientId: string | null;
    readonly clientSecret: string | null;
    readonly callbackPort: number | null;
  };
  readonly oauthResource: string | null;
  /** Whether each thread gets a process or session of its own; null for the default of this server. */
  readonly isolation: "thread" | "shared" | null;
  /**
   * Where the server is configured: config.toml and `-c`, the client that started the thread, or a project's own
   * file.
   */
  readonly origin: "host" | "thread" | "project";
}

export interface StdioTransport {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Further environment variables of the host that the server gets. */
  readonly envVars: readonly string[];
  /** The server's working folder; null for the thread's folder. */
  readonly cwd: string | null;
}

export interface HttpTransport {
  readonly kind: "http";
  readonly url: string;
  readonly bearerTokenEnvVar: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers whose values come from environment variables of the host: header → variable. */
  readonly envHeaders: Readonly<Record<string, string>>;
  /** A shell command that prints further headers as a JSON object. */
  readonly headersHelper: string | null;
}

/** When a call of a tool needs the user's approval. */
export const MCP_APPROVAL_MODES = ["auto", "prompt", "writes", "approve"] as const;
export type McpApprovalMode = (typeof MCP_APPROVAL_MODES)[number];
