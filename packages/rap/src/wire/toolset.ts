import { jsonSchema } from "./json-schema.ts";
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
import { anyObject, httpUrl } from "./values.ts";

/** What is known of a tool's behaviour. Informs, and changes nothing; keys of others may stand beside these. */
export interface ToolAnnotations {
  /** The provider whose authorization the tool may ask for. */
  readonly requiresAuth?: string;
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  /** May be sent again without another effect. */
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

/** The alphabet that the specification recommends: it leaves no doubt about what a special character is. */
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

/** What a tool server tells of itself at `/.well-known/rap-toolset`. */
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
 * Reads a toolset, whole or not at all.
 *
 * @example
 * const read = parseToolset(await response.json());
 * if (!read.ok) console.error(`${read.problem.path} ${read.problem.says}`);
 */
export function parseToolset(value: unknown): Parsed<Toolset> {
  return parse(toolset, value);
}
