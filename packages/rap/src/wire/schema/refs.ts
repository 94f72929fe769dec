// Resolves the refs of a schema. All are resolved before the schema is used, so that a ref without a target is reported
// at once.
import { isObject, type JsonObject } from "../shape.ts";

/** A schema. As a boolean it accepts everything (true) or nothing (false). */
export type Schema = JsonObject | boolean;

const ONE = [
  ..."not if then else contains propertyNames additionalProperties additionalItems items".split(" "),
  ..."unevaluatedItems unevaluatedProperties contentSchema".split(" "),
];
const LIST = "allOf anyOf oneOf prefixItems items".split(" ");
const NAMED = "properties patternProperties $defs definitions dependentSchemas dependencies".split(" ");
const REFS = ["$ref", "$dynamicRef", "$recursiveRef"];
const NOWHERE = "https://schema.invalid/";

export interface Refs {
  /** The schemas that this schema refers to. */
  of(schema: JsonObject): readonly Schema[];
}

/** Throws if a ref has no target or a pattern is no regular expression. */
export function resolveRefs(root: JsonObject): Refs {
  /** Schemas by the base URI that they declare with `$id`. Refs in nested schemas are relative to it. */
  const roots = new Map<string, JsonObject>();
  const anchors = new Map<string, JsonObject>();
  const bases = new Map<JsonObject, string>();
  const todo: (readonly [unknown, string])[] = [[root, NOWHERE]];
  roots.set(NOWHERE, root);

  const walk = (): void => {
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const [schema, around] = next;
      if (!isObject(schema) || bases.has(schema)) continue;
      const base = ownAddress(schema, around);
      bases.set(schema, base);
      if (base !== around) roots.set(base, schema);
      for (const key of ["$anchor", "$dynamicAnchor"])
        if (typeof schema[key] === "string") anchors.set(`${base}#${schema[key]}`, schema);
      const id = idOf(schema);
      if (id?.startsWith("#")) anchors.set(`${base}${id}`, schema);
      checkPatterns(schema);
      for (const key of ONE) todo.push([schema[key], base]);
      for (const key of LIST)
        if (Array.isArray(schema[key])) for (const part of schema[key]) todo.push([part, base]);
      for (const key of NAMED)
        if (isObject(schema[key])) for (const part of Object.values(schema[key])) todo.push([part, base]);
    }
  };

  const found = (ref: string, from: string): Schema => {
    const [address, fragment] = split(ref, from) ?? ["", ""];
    const isPointer = fragment === "" || fragment.startsWith("/");
    const target = isPointer ? pointed(roots.get(address), fragment) : anchors.get(`${address}#${fragment}`);
    if (typeof target === "boolean" || isObject(target)) return target;
    throw new Error(`$ref ${JSON.stringify(ref.slice(0, 200))} leads nowhere`);
  };

  walk();
  const targetsBySchema = new Map<JsonObject, readonly Schema[]>();
  for (const [schema, base] of bases) {
    const targets = REFS.map((key) => schema[key]).filter((ref) => typeof ref === "string");
    if (targets.length === 0) continue;
    const schemas = targets.map((ref) => found(ref, base));
    targetsBySchema.set(schema, schemas);
    // A pointer may lead to an object outside of the schema keywords. Such targets are walked too, which adds to
    // `bases` while this loop runs.
    for (const target of schemas) if (isObject(target) && !bases.has(target)) todo.push([target, base]);
    walk();
  }
  return { of: (schema) => targetsBySchema.get(schema) ?? [] };
}

function checkPatterns({ pattern, patternProperties }: JsonObject): void {
  const named = isObject(patternProperties) ? Object.keys(patternProperties) : [];
  for (const source of typeof pattern === "string" ? [pattern, ...named] : named) new RegExp(source, "u");
}

function idOf(schema: JsonObject): string | undefined {
  const id = schema["$id"] ?? schema["id"];
  return typeof id === "string" ? id : undefined;
}

function ownAddress(schema: JsonObject, around: string): string {
  const id = idOf(schema);
  if (id === undefined || id.startsWith("#")) return around;
  return split(id, around)?.[0] ?? around;
}

/** Resolves a ref to a URI without its fragment, and the fragment; undefined if it is no valid URI reference. */
function split(ref: string, from: string): readonly [string, string] | undefined {
  try {
    const url = new URL(ref, from);
    const fragment = decodeURIComponent(url.hash.slice(1));
    url.hash = "";
    return [url.href, fragment];
  } catch {
    return undefined;
  }
}

function pointed(start: unknown, pointer: string): unknown {
  let at = start;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}
