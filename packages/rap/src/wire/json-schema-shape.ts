// Checks that a tool's input schema is itself well-formed JSON Schema. Schemas come from foreign tool servers, so
// nothing in them is trusted.
import { LIMITS } from "./limits.ts";
import { isObject, type JsonObject, mismatch, type Shape } from "./shape.ts";

const TYPES = ["null", "boolean", "object", "array", "number", "string", "integer"];

type Keyword = (value: unknown, path: string, depth: number) => void;

const schema: Keyword = (value, path, depth) => {
  if (typeof value === "boolean") return;
  if (!isObject(value)) return mismatch(path, "must be a JSON Schema");
  if (depth === 0) return mismatch(path, `must not be nested deeper than ${LIMITS.depth}`);
  for (const [key, part] of Object.entries(value)) KEYWORDS.get(key)?.(part, `${path}.${key}`, depth - 1);
};
const schemas: Keyword = (value, path, depth) => {
  if (!Array.isArray(value) || value.length === 0) return mismatch(path, "must be an array of schemas");
  for (const [index, part] of value.entries()) schema(part, `${path}[${index}]`, depth);
};
const schemaByName: Keyword = (value, path, depth) => {
  if (!isObject(value)) return mismatch(path, "must be an object of schemas");
  for (const [name, part] of Object.entries(value)) schema(part, `${path}.${name}`, depth);
};
const names: Keyword = (value, path) => {
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string"))
    return mismatch(path, "must be an array of names");
};
const count: Keyword = (value, path) => {
  if (!Number.isInteger(value) || (value as number) < 0)
    return mismatch(path, "must be a whole number from 0 on");
};
const number: Keyword = (value, path) => {
  if (typeof value !== "number") return mismatch(path, "must be a number");
};
const string: Keyword = (value, path) => {
  if (typeof value !== "string") return mismatch(path, "must be a string");
};
const boolean: Keyword = (value, path) => {
  if (typeof value !== "boolean") return mismatch(path, "must be true or false");
};

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ...["not", "if", "then", "else", "contains", "propertyNames", "additionalProperties"].map(
    (name) => [name, schema] as const,
  ),
  ...["additionalItems", "unevaluatedItems", "unevaluatedProperties"].map((name) => [name, schema] as const),
  ...["allOf", "anyOf", "oneOf", "prefixItems"].map((name) => [name, schemas] as const),
  ...["properties", "$defs", "definitions", "dependentSchemas"].map((name) => [name, schemaByName] as const),
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"].map(
    (name) => [name, count] as const,
  ),
  ...["minContains", "maxContains"].map((name) => [name, count] as const),
  ...["minimum", "maximum"].map((name) => [name, number] as const),
  ...["title", "description", "$comment", "$schema", "$id", "$anchor", "format"].map(
    (name) => [name, string] as const,
  ),
  ["uniqueItems", boolean],
  ["required", names],
  [
    "type",
    (value, path) => {
      const known = Array.isArray(value) ? value : [value];
      if (known.length === 0 || !known.every((name) => TYPES.includes(name)))
        return mismatch(path, "must be a type of JSON Schema");
    },
  ],
  [
    "enum",
    (value, path) => {
      if (!Array.isArray(value)) return mismatch(path, "must be an array");
    },
  ],
  // One schema for all items or, before draft 2020-12, a list with one schema per position.
  ["items", (value, path, depth) => (Array.isArray(value) ? schemas : schema)(value, path, depth)],
  // A number since draft 6. In older drafts a boolean that makes `minimum` or `maximum` exclusive.
  ["exclusiveMinimum", (value, path) => (typeof value === "boolean" ? undefined : number(value, path, 0))],
  ["exclusiveMaximum", (value, path) => (typeof value === "boolean" ? undefined : number(value, path, 0))],
  [
    "multipleOf",
    (value, path) => {
      if (typeof value !== "number" || !(value > 0)) return mismatch(path, "must be a number above 0");
    },
  ],
  [
    "patternProperties",
    (value, path, depth) => {
      schemaByName(value, path, depth);
      for (const name of Object.keys(value as JsonObject)) pattern(name, path);
    },
  ],
  ["pattern", pattern],
  ...["$ref", "$dynamicRef", "$recursiveRef"].map((name) => [name, ref] as const),
]);

/** A ref must point into the same schema: the host fetches nothing on behalf of a schema. */
function ref(value: unknown, path: string): void {
  if (typeof value !== "string") return mismatch(path, "must be a string");
  if (!value.startsWith("#")) return mismatch(path, "must stay inside of the schema");
}

function pattern(value: unknown, path: string): void {
  if (typeof value !== "string") return mismatch(path, "must be a string");
  try {
    new RegExp(value, "u");
  } catch {
    mismatch(path, "must be a regular expression");
  }
}

/** A JSON Schema object in which every known keyword has a value of the right type and every ref stays inside. */
export const jsonSchema: Shape<JsonObject> = (value, path) => {
  if (!isObject(value)) return mismatch(path, "must be a JSON Schema object");
  schema(value, path, LIMITS.depth);
  return value;
};
