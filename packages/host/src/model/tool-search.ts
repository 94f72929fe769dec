import type { FunctionCallOutputBody } from "@bobbin/protocol";
import type { ContextItem, ToolSpec } from "./model.ts";

/** The tool by which models search for tools that are not listed. */
export const TOOL_SEARCH = "tool_search";

/** A tool in the result of a search. */
export interface FoundTool {
  readonly namespace: string;
  readonly namespaceDescription?: string | undefined;
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

/** The result of a tool search, as text. */
export function searchOutput(tools: readonly FoundTool[]): string {
  return JSON.stringify({ tools });
}

/** Parses the result of a search; empty if the search failed. */
export function readSearchOutput(output: FunctionCallOutputBody): readonly FoundTool[] {
  if (typeof output !== "string") return [];
  try {
    const { tools } = JSON.parse(output) as { readonly tools?: unknown };
    return Array.isArray(tools) ? tools.filter(isFound) : [];
  } catch {
    return [];
  }
}

function isFound(value: unknown): value is FoundTool {
  const { namespace, name, description } = Object(value) as Record<string, unknown>;
  return [namespace, name, description].every((text) => typeof text === "string");
}

/** The call ids of all tool searches in a conversation. */
export function searchesIn(context: readonly ContextItem[]): ReadonlySet<string> {
  return new Set(
    context.flatMap((item) =>
      item.type === "toolCall" && item.name === TOOL_SEARCH && item.namespace === null ? [item.callId] : [],
    ),
  );
}

/** The tools for a model call: all listed ones, and the deferred ones that searches have found. */
export function shownTools(specs: readonly ToolSpec[], context: readonly ContextItem[]): readonly ToolSpec[] {
  if (!specs.some(isDeferred)) return specs;
  const searches = searchesIn(context);
  const found = new Set(
    context.flatMap((item) =>
      item.type === "toolOutput" && searches.has(item.callId)
        ? readSearchOutput(item.output).map(({ namespace, name }) => `${namespace} ${name}`)
        : [],
    ),
  );
  return specs.filter((spec) => !isDeferred(spec) || found.has(`${spec.namespace} ${spec.name}`));
}

export function isDeferred(spec: ToolSpec): spec is Extract<ToolSpec, { kind: "function" }> {
  return spec.kind === "function" && spec.deferred === true;
}
