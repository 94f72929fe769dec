import type { ThreadItem } from "@bobbin/protocol";
import type { Ask } from "../requests/records.ts";
import type { ThreadState } from "../state.ts";
import type { ToolCall } from "../turn/records.ts";
import type { Reviewed } from "./records.ts";

/**
 * The action that a request for approval is about, for a reviewer and for clients. Undefined for requests that are no
 * approvals: only a person can answer them.
 */
export function reviewedBy(
  state: Pick<ThreadState, "settings" | "terminals">,
  call: ToolCall,
  ask: Ask,
  item: ThreadItem | undefined,
): Omit<Reviewed, "reviewId"> | undefined {
  const { cwd } = state.settings;
  switch (ask.method) {
    case "item/commandExecution/requestApproval": {
      const { itemId, command, kind } = ask.params;
      const folder = ask.params.cwd ?? cwd;
      if (kind === "writeStdin") {
        const terminal = state.terminals.find((one) => one.item.id === itemId);
        const action = {
          type: "writeStdin",
          approvalId: ask.params.approvalId ?? call.callId,
          processId: terminal?.processId ?? "",
          stdin: charsOf(call),
          cwd: folder,
        } as const;
        return { targetItemId: itemId, action };
      }
      return {
        targetItemId: itemId,
        action: { type: "command", source: "unifiedExec", command: command ?? "", cwd: folder },
      };
    }
    case "item/fileChange/requestApproval": {
      const changes = item?.type === "fileChange" ? item.changes : [];
      const files = changes.flatMap(({ path, kind }) =>
        kind.type === "update" && kind.move_path != null ? [path, kind.move_path] : [path],
      );
      return { targetItemId: ask.params.itemId, action: { type: "applyPatch", cwd, files } };
    }
    case "item/permissions/requestApproval": {
      const { itemId, permissions, reason } = ask.params;
      return { targetItemId: itemId, action: { type: "requestPermissions", reason, permissions } };
    }
    case "mcpServer/elicitation/request": {
      const { serverName: server, _meta: meta } = ask.params;
      const { codex_approval_kind: kind, tool_title: title } = (meta ?? {}) as Record<string, unknown>;
      // Other elicitations of MCP servers are questions to the user, not approvals.
      if (kind !== "mcp_tool_call") return undefined;
      // The tool's name on its MCP server, which may differ from the name that models see.
      const toolName = item?.type === "mcpToolCall" ? item.tool : call.name;
      const toolTitle = typeof title === "string" ? title : null;
      const connector = { connectorId: null, connectorName: null, toolTitle };
      return {
        targetItemId: call.callId,
        action: { type: "mcpToolCall", server, toolName, ...connector },
      };
    }
    case "item/tool/requestUserInput":
    case "item/tool/call":
      return undefined;
  }
}

/** The text that a call writes to a terminal. */
function charsOf({ arguments: text }: ToolCall): string {
  try {
    const { chars } = JSON.parse(text) as { chars?: unknown };
    return typeof chars === "string" ? chars : "";
  } catch {
    return "";
  }
}
