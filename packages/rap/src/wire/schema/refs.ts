// Where the refs of a schema lead. All are looked up before the schema is used: one that leads nowhere is told at once.
import { isObject, type JsonObject } from "../shape.ts";

/** A schema: an object, or whether anything fits. */
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
  /** The schemas that it refers to. */
  of(schema: JsonObject): readonly Schema[];
}

/** Throws on a ref that leads nowhere, and on a pattern that is none. */
export function refsOf(root: JsonObject): Refs {
  /** Schemas by the address that they give themselves; what is below takes its refs from there. */
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
  const leads = new Map<JsonObject, readonly Schema[]>();
  for (const [schema, base] of bases) {
    const targets = REFS.map((key) => schema[key]).filter((ref) => typeof ref === "string");
    if (targets.length === 0) continue;
    const schemas = targets.map((ref) => found(ref, base));
    leads.set(schema, schemas);
    // What a pointer leads to need not stand where schemas do. The loop comes to what is added meanwhile.
    for (const target of schemas) if (isObject(target) && !bases.has(target)) todo.push([target, base]);
    walk();
  }
  return { of: (schema) => leads.get(schema) ?? [] };
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

/** An address and what is named in it; undefined if it is none. */
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
