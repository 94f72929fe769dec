import { jsonSchema } from "./json-schema-shape.ts";
import { LIMITS } from "./limits.ts";
import {
  flag,
  list,
  mismatch,
  object,
  orElse,
  type Parsed,
  parse,
  type Read,
  type Shape,
  text,
} from "./shape.ts";
import { anyObject, httpUrl } from "./value-shapes.ts";

/** Hints about a tool's behaviour, for hosts. A tool server may add hints of its own under `x-` keys. */
export interface ToolAnnotations {
  /** Name of the OAuth provider whose authorization the tool may ask for. */
  readonly requiresAuth?: string;
  /** Changes nothing. */
  readonly readOnly?: boolean;
  /** May delete or overwrite something. Hosts ask the user before a call. */
  readonly destructive?: boolean;
  /** A call that is sent twice has the same effect as one. */
  readonly idempotent?: boolean;
  /** Takes minutes or hours. */
  readonly longRunning?: boolean;
  readonly [custom: `x-${string}`]: unknown;
}

const known = object({
  requiresAuth: orElse(text({ min: 1, max: LIMITS.name }), undefined),
  readOnly: orElse(flag, undefined),
  destructive: orElse(flag, undefined),
  idempotent: orElse(flag, undefined),
  longRunning: orElse(flag, undefined),
});

const annotations: Shape<ToolAnnotations> = (value, path) => ({
  ...anyObject(value, path),
  ...known(value, path),
});

/** The characters that the specification recommends for tool names. Bobbin requires them. */
const toolName = text({
  min: 1,
  max: LIMITS.name,
  matches: { pattern: /^[A-Za-z0-9_-]+$/, says: "must have letters, digits, underscores and hyphens only" },
});

const tool = object({
  name: toolName,
  description: text({ max: LIMITS.description }),
  inputSchema: jsonSchema,
  annotations: orElse(annotations, undefined),
  displayScript: orElse(text({ max: LIMITS.description }), undefined),
});

/** One operation of a toolset. */
export type ToolDefinition = Read<typeof tool>;

const toolset = object({
  name: text({ min: 1, max: LIMITS.name }),
  description: orElse(text({ max: LIMITS.description }), undefined),
  endpoint: httpUrl,
  tools: uniquelyNamed(list(tool, { min: 1, max: LIMITS.tools })),
  needsMigration: orElse(flag, false),
});

/** A tool server's description of itself and its tools, served at `/.well-known/rap-toolset`. */
export type Toolset = Read<typeof toolset>;

function uniquelyNamed<T extends { readonly name: string }>(shape: Shape<readonly T[]>): Shape<readonly T[]> {
  return (value, path) => {
    const tools = shape(value, path);
    const seen = new Set<string>();
    for (const [index, { name }] of tools.entries()) {
      if (seen.has(name)) return mismatch(`${path}[${index}].name`, "must be unique in its toolset");
      seen.add(name);
    }
    return tools;
  };
}

/**
 * Parses a toolset. One invalid tool makes the whole toolset invalid.
 *
 * @example
 * const read = parseToolset(await response.json());
 * if (!read.ok) console.error(`${read.problem.path} ${read.problem.says}`);
 */
export function parseToolset(value: unknown): Parsed<Toolset> {
  return parse(toolset, value);
}
