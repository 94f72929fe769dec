import type { ThreadItem } from "@bobbin/protocol";
import type { SessionCall } from "./session-events.ts";

/** Limit on the characters of a stored output. A longer output loses its middle. */
const MAX_OUTPUT = 256 * 1024;

/** Makes the item of a tool call that has no output yet. */
export function callItem(
  { name, namespace, arguments: argumentsText, ...call }: SessionCall,
  id: string,
  cwd: string,
): ThreadItem {
  if (call.command !== undefined)
    return {
      type: "commandExecution",
      id,
      command: call.command,
      cwd: call.cwd ?? cwd,
      commandActions: [],
      aggregatedOutput: null,
      durationMs: null,
      exitCode: null,
      pluginId: null,
      processId: null,
      scriptPath: null,
      source: "agent",
      status: "inProgress",
    };
  const changes = call.changes?.(cwd);
  if (changes !== undefined) return { type: "fileChange", id, changes: [...changes], status: "inProgress" };
  if (call.mcp !== undefined)
    return {
      type: "mcpToolCall",
      id,
      ...call.mcp,
      arguments: parsed(argumentsText),
      appContext: null,
      durationMs: null,
      error: null,
      mcpAppUi: null,
      pluginId: null,
      readOnlyHint: null,
      result: null,
      status: "inProgress",
    };
  return {
    type: "dynamicToolCall",
    id,
    tool: name,
    namespace,
    arguments: parsed(argumentsText),
    contentItems: null,
    durationMs: null,
    status: "inProgress",
    success: null,
  };
}

/** Completes the item with the output of the call. */
export function answered(
  item: ThreadItem,
  output: string,
  success: boolean,
  exitCode: number | undefined,
): ThreadItem {
  const status = success ? "completed" : "failed";
  switch (item.type) {
    case "commandExecution":
      return { ...item, aggregatedOutput: output, exitCode: exitCode ?? null, status };
    case "fileChange":
      return { ...item, status };
    case "mcpToolCall":
      return {
        ...item,
        status,
        ...(success
          ? { result: { content: [{ type: "text", text: output }], structuredContent: null, _meta: null } }
          : { error: { message: output } }),
      };
    case "dynamicToolCall":
      return { ...item, status, success, contentItems: [{ type: "inputText", text: output }] };
    default:
      return item;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function shortened(text: string): string {
  if (text.length <= MAX_OUTPUT) return text;
  const half = MAX_OUTPUT / 2;
  const cut = text.length - MAX_OUTPUT;
  return `${text.slice(0, half)}\n[… ${cut} characters are left out …]\n${text.slice(-half)}`;
}
