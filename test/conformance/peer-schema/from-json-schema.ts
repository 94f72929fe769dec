// Random values of the part of JSON Schema that the peer's files use.
import fc, { type Arbitrary } from "fast-check";

export type JsonSchema = boolean | { readonly [key: string]: unknown };
export type Definitions = { readonly [name: string]: JsonSchema };
type Parts = { readonly [key: string]: unknown };

const RANGES: Record<string, readonly [number, number]> = {
  uint8: [0, 0xff],
  uint16: [0, 0xffff],
  uint32: [0, 0xffff_ffff],
  int32: [-0x8000_0000, 0x7fff_ffff],
  uint: [0, Number.MAX_SAFE_INTEGER],
  uint64: [0, Number.MAX_SAFE_INTEGER],
};

export function valuesOf(schema: JsonSchema, definitions: Definitions): Arbitrary<unknown> {
  if (typeof schema === "boolean" || isFree(schema)) return fc.jsonValue({ maxDepth: 1 });
  const { $ref, allOf, anyOf, oneOf, properties } = schema as {
    $ref?: string;
    allOf?: JsonSchema[];
    anyOf?: JsonSchema[];
    oneOf?: JsonSchema[];
    properties?: Parts;
  };
  if ($ref) return valuesOf(definitions[$ref.split("/").at(-1)!]!, definitions);
  if (allOf) return valuesOf(allOf[0]!, definitions);
  const options = oneOf ?? anyOf;
  if (options && properties) {
    // A flattened enum: one of the options, and the fields beside it.
    const rest = valuesOf({ ...schema, oneOf: undefined, anyOf: undefined }, definitions);
    return fc
      .tuple(rest, fc.oneof(...options.map((option) => valuesOf(option, definitions))))
      .map(([common, own]) => ({ ...(common as object), ...(own as object) }));
  }
  if (options) return fc.oneof(...options.map((option) => valuesOf(option, definitions)));
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? "object"];
  return fc.oneof(...types.map((type: string) => ofType(type, schema, definitions)));
}

function isFree(schema: Parts): boolean {
  return Object.keys(schema).every((key) => ["description", "title", "default"].includes(key));
}

function ofType(type: string, schema: Parts, definitions: Definitions): Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "string":
      return fc.string({ minLength: (schema.minLength as number) ?? 0, maxLength: 12, unit: "grapheme" });
    case "boolean":
      return fc.boolean();
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "integer": {
      const [min, max] = RANGES[schema.format as string] ?? [
        Number.MIN_SAFE_INTEGER,
        Number.MAX_SAFE_INTEGER,
      ];
      return fc.integer({ min: Math.max(min, (schema.minimum as number) ?? min), max });
    }
    case "array":
      return fc.array(valuesOf((schema.items as JsonSchema) ?? true, definitions), { maxLength: 3 });
    case "object":
      return objects(schema, definitions);
    default:
      throw new Error(`no values for type ${type}`);
  }
}

function objects(schema: Parts, definitions: Definitions): Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as { [key: string]: JsonSchema };
  const additional = schema.additionalProperties as JsonSchema | undefined;
  const model: Record<string, Arbitrary<unknown>> = {};
  for (const [key, property] of Object.entries(properties)) model[key] = valuesOf(property, definitions);
  const required = ((schema.required as string[]) ?? []).filter((key) => key in model);
  const known = fc.record(model, { requiredKeys: required });
  if (additional === false) return known;
  // What is not described is ignored; older clients send fields that are gone.
  const extra =
    additional === undefined
      ? fc.oneof(fc.constant({}), fc.record({ someFieldThatIsGone: fc.jsonValue({ maxDepth: 1 }) }))
      : fc.dictionary(fc.string({ maxLength: 6 }), valuesOf(additional, definitions), { maxKeys: 3 });
  return fc.tuple(extra, known).map(([more, own]) => ({ ...more, ...own }));
}
