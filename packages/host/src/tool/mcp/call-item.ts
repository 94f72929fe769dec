import type { McpToolCallResult, ThreadItem } from "@bobbin/protocol";
import type { Invocation } from "../tool.ts";
import type { McpTool } from "./mcp-interface.ts";

export type McpCallItem = Extract<ThreadItem, { type: "mcpToolCall" }>;

/** A call of an MCP server's tool. */
export interface McpCall {
  readonly server: string;
  readonly tool: McpTool;
  readonly invocation: Invocation;
}

/** The outcome of a call. */
export interface CallEnd {
  readonly success: boolean;
  readonly result: McpToolCallResult | null;
  /** Why there is no result; null if there is one. */
  readonly error: string | null;
  readonly at: number;
  /** When the server was called; null if it was not called. */
  readonly calledAt: number | null;
}

/** The item of a call that waits for approval or is running. */
export function startedItem({ server, tool, invocation }: McpCall): McpCallItem {
  const { call, args, startedAt } = invocation;
  const { annotations, name } = tool;
  const page = resourceUri(tool);
  return {
    type: "mcpToolCall",
    id: call.callId,
    server,
    tool: name,
    status: "inProgress",
    arguments: args,
    appContext: null,
    ...(page !== undefined && { mcpAppResourceUri: page }),
    mcpAppUi: null,
    pluginId: null,
    readOnlyHint: annotations?.readOnlyHint ?? null,
    result: null,
    error: null,
    durationMs: null,
    startedAtMs: startedAt,
    completedAtMs: null,
  };
}

/** The item of a call that has ended. */
export function endedItem(call: McpCall, { success, result, error, at, calledAt }: CallEnd): McpCallItem {
  return {
    ...startedItem(call),
    status: success ? "completed" : "failed",
    result,
    error: error === null ? null : { message: error },
    durationMs: calledAt === null ? 0 : Math.max(0, at - calledAt),
    completedAtMs: at,
  };
}

/** The URI of the page that shows the tool's results, if the server names one. */
function resourceUri({ _meta: meta }: McpTool): string | undefined {
  const { ui } = Object(meta) as { readonly ui?: unknown };
  const { resourceUri: uri } = Object(ui) as { readonly resourceUri?: unknown };
  return typeof uri === "string" && uri.length <= 2000 ? uri : undefined;
}
