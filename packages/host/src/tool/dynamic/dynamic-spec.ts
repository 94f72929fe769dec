import type { DynamicToolInput } from "@bobbin/protocol";
import { fault } from "../../errors.ts";

/** A function that a client offers, normalized from all accepted formats. */
export interface DynamicFunction {
  readonly name: string;
  readonly namespace: { readonly name: string; readonly description: string } | null;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly deferLoading: boolean;
}

/** Namespaces that the Responses API reserves. */
const RESERVED = new Set([
  "api_tool",
  "browser",
  "computer",
  "container",
  "file_search",
  "functions",
  "image_gen",
  "multi_tool_use",
  "python",
  "python_user_visible",
  "submodel_delegator",
  "terminal",
  "tool_search",
  "web",
]);

const MAX_NAME = 128;
const MAX_NAMESPACE = 64;
const MAX_NAMESPACE_DESCRIPTION = 1024;

/** Normalizes the tools that a client offers. */
export function dynamicFunctions(tools: readonly DynamicToolInput[]): readonly DynamicFunction[] {
  return tools.flatMap((entry): DynamicFunction[] => {
    if (entry.type === undefined) {
      const { name, description, inputSchema, namespace } = entry;
      const deferLoading =
        entry.deferLoading ?? (entry.exposeToContext == null ? false : !entry.exposeToContext);
      const within = namespace == null ? null : { name: namespace, description: "" };
      return [{ name, description, inputSchema, namespace: within, deferLoading }];
    }
    if (entry.type === "function") {
      const { name, description, inputSchema, deferLoading = false } = entry;
      return [{ name, description, inputSchema, namespace: null, deferLoading }];
    }
    const namespace = { name: entry.name, description: entry.description };
    return entry.tools.map(({ name, description, inputSchema, deferLoading = false }) => ({
      name,
      description,
      inputSchema,
      namespace,
      deferLoading,
    }));
  });
}

/** Validates the tools that a client offers. Throws `badDynamicTools` with the reason. */
export function checkDynamicTools(tools: readonly DynamicToolInput[]): void {
  if (isMixed(tools))
    refuse("Invalid request: dynamic tools must use either canonical or legacy format consistently");
  const namespaces = new Set<string>();
  for (const entry of tools) {
    if (entry.type !== "namespace") continue;
    checkNamespace(entry.name, entry.description);
    if (namespaces.has(entry.name)) refuse(`duplicate dynamic tool namespace: ${entry.name}`);
    namespaces.add(entry.name);
    if (entry.tools.length === 0)
      refuse(`dynamic tool namespace must contain at least one tool: ${entry.name}`);
  }
  const seen = new Set<string>();
  for (const { name, namespace, deferLoading, inputSchema } of dynamicFunctions(tools)) {
    if (namespace !== null) checkNamespace(namespace.name, namespace.description);
    checkName(name, "dynamic tool name", MAX_NAME);
    const key = `${namespace?.name ?? ""} ${name}`;
    if (seen.has(key)) {
      const where = namespace === null ? "" : ` in namespace ${namespace.name}`;
      refuse(`duplicate dynamic tool name${where}: ${name}`);
    }
    seen.add(key);
    if (deferLoading && namespace === null) refuse(`deferred dynamic tool must include a namespace: ${name}`);
    const problem = schemaProblem(inputSchema);
    if (problem !== undefined) refuse(`dynamic tool input schema is not supported for ${name}: ${problem}`);
  }
}

/** Whether a client mixes the current format with the legacy one. Then some of its tools would be ignored. */
function isMixed(tools: readonly DynamicToolInput[]): boolean {
  const kinds = tools.filter((entry) => entry.type !== undefined);
  if (kinds.length === 0) return false;
  const functions = kinds.flatMap((entry) => (entry.type === "namespace" ? entry.tools : [entry]));
  return (
    kinds.length < tools.length || functions.some((one) => "exposeToContext" in one || "namespace" in one)
  );
}

function checkNamespace(name: string, description: string): void {
  checkName(name, "dynamic tool namespace", MAX_NAMESPACE);
  if (Array.from(description).length > MAX_NAMESPACE_DESCRIPTION) {
    refuse(`dynamic tool namespace description must be at most ${MAX_NAMESPACE_DESCRIPTION} characters`);
  }
  if (RESERVED.has(name)) {
    refuse(`dynamic tool namespace collides with a reserved Responses API namespace: ${name}`);
  }
}

function checkName(name: string, label: string, limit: number): void {
  const shown = JSON.stringify(name.slice(0, 200)).slice(1, -1);
  if (name.trim() === "") refuse(`${label} must not be empty`);
  if (name.trim() !== name) refuse(`${label} has leading/trailing whitespace: ${shown}`);
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
    refuse(`${label} must match ^[a-zA-Z0-9_-]+$ to match Responses API: ${shown}`);
  }
  if (name.length > limit) {
    refuse(`${label} must be at most ${limit} characters to match Responses API: ${shown}`);
  }
  if (name === "mcp" || name.startsWith("mcp__")) refuse(`${label} is reserved: ${name}`);
}

/** A schema must describe an object, because models call functions with an object. */
function schemaProblem(schema: unknown): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return "it is no JSON Schema";
  const { type } = schema as { type?: unknown };
  if (type === undefined || type === "object" || (Array.isArray(type) && type.includes("object")))
    return undefined;
  return `its type is ${JSON.stringify(type)}, not "object"`;
}

function refuse(why: string): never {
  throw fault("badDynamicTools", why);
}
