import type { ThreadItem } from "@bobbin/protocol";

export type Fields = Readonly<Record<string, unknown>>;

/** Converts an item to the format of `exec --json`, without its id. Returns undefined for items that are not shown. */
export function execItem(item: ThreadItem): Fields | undefined {
  switch (item.type) {
    case "agentMessage":
      return { type: "agent_message", text: item.text };
    case "reasoning": {
      const text = item.summary.join("\n");
      return text.trim() === "" ? undefined : { type: "reasoning", text };
    }
    case "commandExecution":
      return {
        type: "command_execution",
        command: item.command,
        aggregated_output: item.aggregatedOutput ?? "",
        exit_code: item.exitCode,
        status: snake(item.status),
      };
    case "fileChange":
      return {
        type: "file_change",
        changes: item.changes.map(({ path, kind }) => ({ path, kind: kind.type })),
        status: item.status === "declined" ? "failed" : snake(item.status),
      };
    case "mcpToolCall":
      return {
        type: "mcp_tool_call",
        server: item.server,
        tool: item.tool,
        arguments: item.arguments,
        result: item.result && {
          content: item.result.content,
          ...(item.result._meta != null && { _meta: item.result._meta }),
          structured_content: item.result.structuredContent ?? null,
        },
        error: item.error && { message: item.error.message },
        status: snake(item.status),
      };
    case "collabAgentToolCall":
      return {
        type: "collab_tool_call",
        // The format has no value for `resumeAgent`; `wait` is the closest.
        tool: item.tool === "resumeAgent" ? "wait" : snake(item.tool),
        sender_thread_id: item.senderThreadId,
        receiver_thread_ids: item.receiverThreadIds,
        prompt: item.prompt,
        agents_states: Object.fromEntries(
          Object.entries(item.agentsStates).map(([id, { status, message }]) => [
            id,
            { status: snake(status), message },
          ]),
        ),
        status: snake(item.status),
      };
    case "webSearch":
      return {
        type: "web_search",
        query: item.query,
        action: item.action ? { ...item.action, type: snake(item.action.type) } : { type: "other" },
      };
    default:
      return undefined;
  }
}

function snake(camel: string): string {
  return camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
