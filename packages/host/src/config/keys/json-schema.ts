import { CONFIG_KEYS } from "./catalogue.ts";
import type { Key, KeyTable, KeyType } from "./key.ts";

type Schema = { readonly [key: string]: unknown };

/** JSON Schema of config.toml, for editors. Unknown keys are errors in it; the host only warns about them. */
export function configSchema(): Schema {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Bobbin's config.toml",
    ...schemaOf({ kind: "table", keys: CONFIG_KEYS }),
  };
}

function schemaOf(type: KeyType): Schema {
  switch (type.kind) {
    case "text":
      return { type: "string" };
    case "choice":
      return { type: "string", enum: type.among };
    case "flag":
      return { type: "boolean" };
    case "whole":
      return { type: "integer", minimum: type.least, ...(type.most !== undefined && { maximum: type.most }) };
    case "number":
      return { type: "number" };
    case "list":
      return { type: "array", items: schemaOf(type.of) };
    case "either":
      return { anyOf: type.of.map(schemaOf) };
    case "any":
      return {};
    case "table":
      return {
        type: "object",
        properties: propertiesOf(type.keys),
        additionalProperties: type.named === undefined ? false : described(type.named.key),
      };
  }
}

function propertiesOf(keys: KeyTable): Schema {
  return Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, described(key)]));
}

function described({ type, about, default: usual, atStart }: Key): Schema {
  const words = [
    about,
    usual && `Default: ${usual}.`,
    atStart && "Takes effect at the next start of the host.",
  ]
    .filter(Boolean)
    .join(" ");
  return { description: words, ...schemaOf(type) };
}
