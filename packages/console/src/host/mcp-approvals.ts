import type { ConfigLayer } from "@bobbin/protocol";

/** A tool of an MCP server that the user's config.toml allows without a question. */
export interface McpApproval {
  readonly server: string;
  readonly tool: string;
  /** The path of the key that allows it. */
  readonly keyPath: string;
}

/** The tools that need no approval by a line of their own in the user's config.toml. */
export function mcpApprovals(layers: readonly ConfigLayer[]): readonly McpApproval[] {
  const own = layers.find(({ name }) => name.type === "user" && name.profile === null);
  return entries(own?.config, "mcp_servers").flatMap(([server, settings]) =>
    entries(settings, "tools")
      .filter(([, tool]) => valueAt(tool, "approval_mode") === "approve")
      .map(([tool]) => {
        const keyPath = ["mcp_servers", server, "tools", tool, "approval_mode"].map(quoted).join(".");
        return { server, tool, keyPath };
      }),
  );
}

function valueAt(table: unknown, key: string): unknown {
  return typeof table === "object" && table !== null
    ? (table as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

function entries(table: unknown, key: string): readonly (readonly [string, unknown])[] {
  const inner = valueAt(table, key);
  return typeof inner === "object" && inner !== null ? Object.entries(inner) : [];
}

function quoted(key: string): string {
  return `"${key.replace(/["\\]/g, "\\$&")}"`;
}
