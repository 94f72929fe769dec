// Validates what clients send against the schema. It runs on every request, so a valid value allocates nothing: the
// path of an invalid field is built only while a failure is returned upwards.

import { respell } from "./enum-spelling.ts";
import {
  type EnumNode,
  type Node,
  nodeOf,
  type ObjectNode,
  optionsOf,
  type Schema,
  type Shape,
  shapeOf,
  type TaggedNode,
  type UnionNode,
  variantsOf,
} from "./schema-language.ts";

export type Violation =
  | { kind: "invalid"; path: string; message: string }
  | { kind: "experimental"; name: string };

export interface CheckOptions {
  /** Whether the connection has the capability `experimentalApi`. */
  experimental: boolean;
  /** Method name, for the name of an experimental field in a violation, such as `thread/start.dynamicTools`. */
  method: string;
}

interface Failure {
  path: string;
  message: string;
  /**
   * Nesting level of the failure. Of a union's options, the one that fails deepest is probably the one that was meant.
   */
  depth: number;
}
type Container = Record<string | number, unknown>;

// Only recursive types reach this depth. Free-form values (`unknown()`) are not walked.
const MAX_DEPTH = 64;

// State of the current check. Module variables suffice, because checks are synchronous and do not nest.
let method = "";
/** Name of the first experimental field or option that the value uses. */
let gate: string | undefined;
/** Keys that the schema does not name, as a flat list of container, key, container, key. */
let unnamed: (Container | string)[] = [];

/**
 * Validates a value from JSON.parse and normalizes it in place, so that it has its static type: enum values and tags in
 * another spelling are rewritten, a null is dropped where a key may only be absent, and unknown keys are removed.
 */
export function check(schema: Schema<unknown>, value: unknown, options: CheckOptions): Violation | undefined {
  method = options.method;
  gate = undefined;
  if (unnamed.length > 0) unnamed = [];
  const failure = walk(nodeOf(schema), value, ROOT, "", 0);
  // Invalid values are reported before a missing capability, as in the Codex CLI.
  if (failure) return { kind: "invalid", path: failure.path.replace(/^\./, ""), message: failure.message };
  if (gate !== undefined && !options.experimental) return { kind: "experimental", name: gate };
  for (let at = 0; at < unnamed.length; at += 2) delete (unnamed[at] as Container)[unnamed[at + 1] as string];
  return undefined;
}

const ROOT: Container = Object.freeze(Object.create(null));

function walk(
  node: Node,
  value: unknown,
  parent: Container,
  key: string | number,
  depth: number,
): Failure | undefined {
  if (depth > MAX_DEPTH) return fail("nested too deeply", depth);
  switch (node.kind) {
    case "string":
      if (typeof value !== "string") return expected("a string", value, depth);
      if (node.isPath && value.includes("\0")) return fail("must not contain the character NUL", depth);
      return value.length < node.minLength
        ? fail(`expected at least ${node.minLength} character(s)`, depth)
        : undefined;
    case "boolean":
      return typeof value === "boolean" ? undefined : expected("a boolean", value, depth);
    case "integer":
      if (!Number.isSafeInteger(value)) return expected("an integer", value, depth);
      return (value as number) < node.minimum || (value as number) > node.maximum
        ? fail(`expected an integer from ${node.minimum} to ${node.maximum}`, depth)
        : undefined;
    case "number":
      return Number.isFinite(value) ? undefined : expected("a number", value, depth);
    case "unknown":
      return value === undefined ? fail("missing field", depth) : undefined;
    case "nothing":
      return value === undefined || value === null || isObject(value)
        ? undefined
        : expected("no params", value, depth);
    case "enum":
      return walkEnum(node, value, parent, key, depth);
    case "array":
      if (!Array.isArray(value)) return expected("an array", value, depth);
      for (let index = 0; index < value.length; index++) {
        const failure = walk(node.item, value[index], value as unknown as Container, index, depth + 1);
        if (failure) return within(`[${index}]`, failure);
      }
      return undefined;
    case "record":
      if (!isObject(value)) return expected("an object", value, depth);
      for (const entry in value) {
        const failure = walk(node.value, value[entry], value, entry, depth + 1);
        if (failure) return within(segment(entry), failure);
      }
      return undefined;
    case "nullable":
      return value === null ? undefined : walk(node.inner, value, parent, key, depth);
    case "gated": {
      const failure = walk(node.inner, value, parent, key, depth);
      if (!failure) gate ??= node.gate;
      return failure;
    }
    case "object":
      if (!isObject(value)) return expected("an object", value, depth);
      return walkShape(shapeOf(node), node.others, undefined, value, depth);
    case "tagged":
      return walkTagged(node, value, depth);
    case "union":
      return walkUnion(node, value, parent, key, depth);
  }
}

function walkShape(
  shape: Shape,
  others: ObjectNode["others"],
  tag: string | undefined,
  value: Container,
  depth: number,
): Failure | undefined {
  let named = tag === undefined ? 0 : 1;
  for (const field of shape) {
    // A test ensures that no schema key is also a property of Object.prototype, so this reads own properties only.
    const item = value[field.key];
    if (item === undefined) {
      if (!field.optional) return within(segment(field.key), fail("missing field", depth));
      continue;
    }
    named++;
    if (field.outside === "refused") return within(segment(field.key), expected("nothing", item, depth));
    if (item === null && field.optional) {
      if (!field.nullable && field.node.kind !== "nullable") value[field.key] = undefined;
      continue;
    }
    const failure = walk(field.node, item, value, field.key, depth + 1);
    if (failure) return within(segment(field.key), failure);
    if (field.gated && isUsed(item, field.nullable)) gate ??= `${method}.${field.key}`;
  }
  if (others === "kept") return undefined;
  // A cheap count decides whether there are unknown keys at all.
  let keys = 0;
  for (const _ in value) keys++;
  if (keys <= named) return undefined;
  const names = unnamedIn(shape, tag, value);
  if (others === "refused" && names.length > 0)
    return within(segment(names[0]!), fail("unknown field", depth));
  for (const name of names) unnamed.push(value, name);
  return undefined;
}

function unnamedIn(shape: Shape, tag: string | undefined, value: Container): readonly string[] {
  const names = new Set(shape.map(({ key }) => key));
  if (tag !== undefined) names.add(tag);
  return Object.keys(value).filter((key) => !names.has(key));
}

function walkEnum(
  node: EnumNode,
  value: unknown,
  parent: Container,
  key: string | number,
  depth: number,
): Failure | undefined {
  if (typeof value === "string") {
    if (node.values.includes(value)) return undefined;
    const canonical = Object.hasOwn(node.aliases, value) ? node.aliases[value] : respell(value, node.values);
    if (canonical !== undefined) {
      parent[key] = canonical;
      return undefined;
    }
  }
  return expected(node.values.map((v) => JSON.stringify(v)).join(" or "), value, depth);
}

function walkTagged(node: TaggedNode, value: unknown, depth: number): Failure | undefined {
  if (!isObject(value)) return expected("an object", value, depth);
  const variants = variantsOf(node);
  const tag = value[node.tag];
  if (tag === undefined) return within(segment(node.tag), fail("missing field", depth));
  let shapes = typeof tag === "string" ? variants.get(tag) : undefined;
  if (!shapes && typeof tag === "string") {
    const canonical = Object.hasOwn(node.aliases, tag) ? node.aliases[tag] : respell(tag, variants.keys());
    if (canonical !== undefined) {
      value[node.tag] = canonical;
      shapes = variants.get(canonical);
    }
  }
  if (!shapes) {
    const known = Array.from(variants.keys(), (v) => JSON.stringify(v)).join(" or ");
    return within(segment(node.tag), expected(known, tag, depth + 1));
  }
  const unnamedBefore = unnamed.length;
  let first: Failure | undefined;
  for (const shape of shapes) {
    const failure = walkShape(shape, "dropped", node.tag, value, depth);
    if (!failure) return undefined;
    unnamed.length = unnamedBefore;
    first ??= failure;
  }
  return first;
}

function walkUnion(
  node: UnionNode,
  value: unknown,
  parent: Container,
  key: string | number,
  depth: number,
): Failure | undefined {
  const gateBefore = gate;
  const unnamedBefore = unnamed.length;
  let best: Failure | undefined;
  for (const option of optionsOf(node)) {
    const failure = walk(option, value, parent, key, depth);
    if (!failure) return undefined;
    gate = gateBefore;
    unnamed.length = unnamedBefore;
    if (!best || failure.depth > best.depth) best = failure;
  }
  return best && best.depth > depth ? best : expected(node.name || "one of its options", value, depth);
}

/** Whether an experimental field counts as used, as in the Codex CLI: not null and, if never null, not the default. */
function isUsed(item: unknown, isNullable: boolean): boolean {
  return isNullable || !(item === false || (Array.isArray(item) && item.length === 0));
}

function isObject(value: unknown): value is Container {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fail(message: string, depth: number): Failure {
  return { path: "", message, depth };
}

function expected(what: string, value: unknown, depth: number): Failure {
  return fail(value === undefined ? "missing field" : `expected ${what}, got ${describe(value)}`, depth);
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  // Truncated, because the value comes from a client and may be huge.
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return String(value);
}

function within(step: string, failure: Failure): Failure {
  failure.path = step + failure.path;
  return failure;
}

function segment(key: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(key) && key.length <= 64) return `.${key}`;
  return `[${JSON.stringify(key.length > 64 ? `${key.slice(0, 64)}…` : key)}]`;
}
