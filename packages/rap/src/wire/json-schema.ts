// Tool arguments are described in JSON Schema by whoever wrote the tool server, so nothing here trusts a schema.
import { type OutputUnit, type Schema, type SchemaDraft, Validator } from "@cfworker/json-schema";
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
  // One schema, or, before draft 2020-12, one for each place.
  ["items", (value, path, depth) => (Array.isArray(value) ? schemas : schema)(value, path, depth)],
  // A number since draft 6, and true or false before.
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
  // What is elsewhere would have to be fetched, and nobody said that we may.
  [
    "$ref",
    (value, path) => {
      if (typeof value !== "string") return mismatch(path, "must be a string");
      if (!value.startsWith("#")) return mismatch(path, "must stay inside of the schema");
    },
  ],
]);

function pattern(value: unknown, path: string): void {
  if (typeof value !== "string") return mismatch(path, "must be a string");
  try {
    new RegExp(value, "u");
  } catch {
    mismatch(path, "must be a regular expression");
  }
}

/** An object that is a JSON Schema: every keyword that we know has a value of its kind, and refs stay inside. */
export const jsonSchema: Shape<JsonObject> = (value, path) => {
  if (!isObject(value)) return mismatch(path, "must be a JSON Schema object");
  schema(value, path, LIMITS.depth);
  return value;
};

/** Tells what is wrong with arguments, in words that a model can act on; nothing if they fit. */
export type ArgumentsCheck = (args: unknown) => string | undefined;

/**
 * Prepares the check of a tool's arguments. Throws on a schema that can not be used, such as one whose ref points
 * nowhere.
 *
 * @example
 * const check = argumentsCheck({ type: "object", required: ["city"] });
 * check({ city: "Bern" }); // undefined
 * check({}); // "must have the property \"city\""
 */
export function argumentsCheck(inputSchema: JsonObject): ArgumentsCheck {
  const validator = new Validator(inputSchema as Schema, draftOf(inputSchema), false);
  // The first look at a ref that is not there is what throws.
  validator.validate({});
  return (args) => {
    const { valid, errors } = validator.validate(args);
    return valid ? undefined : told(errors);
  };
}

function draftOf(inputSchema: JsonObject): SchemaDraft {
  const named = String(inputSchema["$schema"] ?? "");
  if (named.includes("draft-04")) return "4";
  if (/draft-0[67]/.test(named)) return "7";
  if (named.includes("2019-09")) return "2019-09";
  return "2020-12";
}

/** Keywords that only say that something inside of them does not fit. */
const AROUND = new Set(
  "properties patternProperties additionalProperties items prefixItems $ref allOf anyOf oneOf then else".split(
    " ",
  ),
);

/** What is wrong with the values themselves; what stands around them only repeats that something is. */
function told(errors: readonly OutputUnit[]): string {
  const inside = errors.filter(({ keyword }) => !AROUND.has(keyword));
  const lines = (inside.length > 0 ? inside : errors).map(({ instanceLocation, keyword, error }) => {
    const where = instanceLocation.replace(/^#\/?/, "");
    const what = keyword === "false" ? "It is not one of the properties." : error;
    return where === "" ? what : `${where}: ${what}`;
  });
  return [...new Set(lines)].slice(0, 5).join(" ");
}
