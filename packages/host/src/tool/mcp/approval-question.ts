import type { Ask } from "../../core/requests/records.ts";
import type { Consent } from "../consent/consent.ts";
import { resultText } from "../result-text.ts";
import type { McpCall } from "./call-item.ts";

/** Limit on the characters of a tool's title and description that users see. */
const MAX_WORDS = 8 * 1024;

/** The elicitation that asks the user whether an MCP tool may be called. */
export function approvalQuestion(
  { server, tool, invocation }: McpCall,
  { grant, amendment }: Extract<Consent, { kind: "ask" }>,
): Ask {
  const { thread, turnId, args } = invocation;
  const title = tool.title ?? tool.annotations?.title;
  const persist = [...(grant === "" ? [] : ["session"]), ...(amendment === null ? [] : ["always"])];
  return {
    method: "mcpServer/elicitation/request",
    params: {
      threadId: thread.facts.id,
      turnId,
      serverName: server,
      mode: "form",
      message: `Allow the MCP server ${server} to run the tool "${tool.name}"?`,
      requestedSchema: { type: "object", properties: {} },
      _meta: {
        codex_approval_kind: "mcp_tool_call",
        // A single value is sent without an array, as clients of the Codex CLI expect.
        ...(persist.length > 0 && { persist: persist.length === 1 ? persist[0] : persist }),
        ...(title !== undefined && { tool_title: resultText(title, MAX_WORDS) }),
        ...(tool.description !== undefined && { tool_description: resultText(tool.description, MAX_WORDS) }),
        tool_params: args,
        tool_params_display: displayed(args),
      },
    },
  };
}

/** The arguments as clients show them, sorted by name. */
function displayed(args: unknown): readonly object[] {
  return Object.entries(Object(args) as Record<string, unknown>)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => ({ name, value, display_name: name }));
}

/** How long the user's approval is valid. */
export function persistOf(result: unknown): "once" | "session" | "always" {
  const { _meta: meta } = Object(result) as { readonly _meta?: unknown };
  const { persist } = Object(meta) as { readonly persist?: unknown };
  return persist === "session" || persist === "always" ? persist : "once";
}
