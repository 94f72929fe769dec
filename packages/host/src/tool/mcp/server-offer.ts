import type { McpTool, McpToolAnnotations } from "./mcp-interface.ts";

/** What a server offers: its tools, instructions and capabilities. */
export interface ServerOffer {
  readonly tools: readonly McpTool[];
  readonly instructions: string | null;
  readonly serverInfo: Readonly<Record<string, unknown>> | null;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The `_meta` of the server's tool list. */
  readonly toolListMeta: unknown;
}

/** Limit on the tools of one server. Further tools are dropped. */
export const MAX_TOOLS = 4000;
const MAX_TOOL_CHARACTERS = 256 * 1024;
const MAX_INSTRUCTIONS = 64 * 1024;
const MAX_NAME = 256;

export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The valid tools of a list, without malformed ones. */
export function toolsIn(list: unknown): McpTool[] {
  if (!Array.isArray(list)) return [];
  const names = new Set<string>();
  return list.slice(0, MAX_TOOLS).flatMap((one: unknown) => {
    const tool = toolOf(one);
    if (tool === undefined || names.has(tool.name)) return [];
    names.add(tool.name);
    return [tool];
  });
}

function toolOf(value: unknown): McpTool | undefined {
  if (!isJson(value) || typeof value.name !== "string") return undefined;
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta } = value;
  if (name === "" || name.length > MAX_NAME) return undefined;
  const tool: McpTool = {
    name,
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    inputSchema: isJson(inputSchema) ? inputSchema : { type: "object" },
    ...(isJson(outputSchema) && { outputSchema }),
    ...(isJson(annotations) && { annotations: annotationsOf(annotations) }),
    ...(Array.isArray(icons) && { icons }),
    ...(isJson(_meta) && { _meta }),
  };
  return JSON.stringify(tool).length > MAX_TOOL_CHARACTERS ? undefined : tool;
}

function annotationsOf(annotations: Json): McpToolAnnotations {
  const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
  const known = Object.entries(annotations).filter(([key, value]) =>
    key === "title" ? typeof value === "string" : hints.includes(key) && typeof value === "boolean",
  );
  return Object.fromEntries(known);
}

export function instructionsOf(instructions: unknown): string | null {
  return typeof instructions === "string" && instructions.trim() !== ""
    ? instructions.slice(0, MAX_INSTRUCTIONS)
    : null;
}
