// Generates JSON Schema (draft 7) from the protocol table, in the same files as the Codex CLI's generate-json-schema.
import { type Node, nodeOf, optionsOf, type Shape, shapeOf, variantsOf } from "../schema-language.ts";
import { RequestId } from "../types/rpc.ts";
import {
  folderOf,
  type GenerateOptions,
  isNamed,
  type Message,
  mayOmitParams,
  messages,
  type NamedNode,
  reachable,
  rpcNodes,
  visibleFields,
} from "./named-types.ts";

export type { GenerateOptions } from "./named-types.ts";

type Json = boolean | { [key: string]: unknown };

const DRAFT = "http://json-schema.org/draft-07/schema#";
// The Codex CLI's name for the file that contains all definitions.
const BUNDLE = "codex_app_server_protocol.v2.schemas.json";

export function jsonSchemaFiles(options: GenerateOptions): Map<string, string> {
  const families = messages(options);
  const all = Object.values(families).flat();
  const files = new Map<string, string>();

  const roots = [...all.flatMap(({ params, result }) => (result ? [params, result] : [params])), ...rpcNodes];
  for (const root of roots.map((node) => (node.kind === "nullable" ? node.inner : node))) {
    if (isNamed(root)) files.set(`${folderOf(root.name)}${root.name}.json`, typeFile(root, options));
  }
  const bundle: Record<string, Json> = {};
  for (const [name, node] of reachable(roots, options)) bundle[name] = body(node, options);
  for (const [family, list] of Object.entries(families)) {
    const schema = messageUnion(family, list, options);
    const needed = [nodeOf(RequestId), ...list.map(({ params }) => params)];
    files.set(`${family}.json`, print({ ...schema, definitions: definitions(needed, options) }));
    bundle[family] = schema;
  }
  bundle.ClientNotification = CLIENT_NOTIFICATION;
  files.set("ClientNotification.json", print(CLIENT_NOTIFICATION));
  files.set(
    BUNDLE,
    print({ title: "CodexAppServerProtocolV2", type: "object", definitions: sorted(bundle) }),
  );
  return files;
}

const CLIENT_NOTIFICATION = {
  title: "ClientNotification",
  oneOf: [
    {
      title: "InitializedNotification",
      type: "object",
      required: ["method"],
      properties: { method: { type: "string", enum: ["initialized"] } },
    },
  ],
};

function typeFile(node: NamedNode, options: GenerateOptions): string {
  const needed = reachable([node], options);
  needed.delete(node.name);
  const schema = { title: node.name, ...body(node, options) };
  return print(needed.size ? { ...schema, definitions: definitions([...needed.values()], options) } : schema);
}

function definitions(nodes: readonly Node[], options: GenerateOptions): Record<string, Json> {
  return Object.fromEntries(
    [...reachable(nodes, options)].map(([name, node]) => [name, body(node, options)]),
  );
}

function messageUnion(family: string, list: readonly Message[], options: GenerateOptions) {
  const hasId = family !== "ServerNotification";
  const oneOf = list.map(({ method, params }) => ({
    type: "object",
    required: [...(hasId ? ["id"] : []), "method", ...(mayOmitParams(params) ? [] : ["params"])],
    properties: {
      ...(hasId && { id: { $ref: "#/definitions/RequestId" } }),
      method: { type: "string", enum: [method] },
      params: schemaOf(params, options),
    },
  }));
  return { title: family, oneOf };
}

function schemaOf(node: Node, options: GenerateOptions): Json {
  return isNamed(node) ? { $ref: `#/definitions/${node.name}` } : body(node, options);
}

function body(node: Node, options: GenerateOptions): { [key: string]: unknown };
function body(node: Node, options: GenerateOptions): Json {
  switch (node.kind) {
    case "string":
      return node.minLength ? { type: "string", minLength: node.minLength } : { type: "string" };
    case "boolean":
    case "number":
      return { type: node.kind };
    case "integer": {
      const isUnsigned = node.minimum >= 0;
      return { type: "integer", format: node.format, ...(isUnsigned && { minimum: node.minimum }) };
    }
    case "unknown":
      return true;
    case "nothing":
      return { type: "null" };
    case "enum":
      return { type: "string", enum: [...node.values] };
    case "array":
      return { type: "array", items: schemaOf(node.item, options) };
    case "record":
      return { type: "object", additionalProperties: schemaOf(node.value, options) };
    case "nullable":
      return orNull(schemaOf(node.inner, options));
    case "gated":
      return schemaOf(node.inner, options);
    case "object":
      return {
        ...objectSchema(shapeOf(node), options),
        ...(node.others !== "dropped" && { additionalProperties: node.others === "kept" }),
      };
    case "tagged": {
      const variants = [...variantsOf(node)].flatMap(([tag, shapes]) =>
        shapes.map((shape) => objectSchema(shape, options, { key: node.tag, value: tag })),
      );
      // If a variant has alternatives, a value may match two of them, which `oneOf` would forbid.
      const isExclusive = [...variantsOf(node).values()].every((shapes) => shapes.length === 1);
      return isExclusive ? { oneOf: variants } : { anyOf: variants };
    }
    case "union":
      return { anyOf: optionsOf(node).map((option) => schemaOf(option, options)) };
  }
}

function objectSchema(shape: Shape, options: GenerateOptions, tag?: { key: string; value: string }) {
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  if (tag) {
    properties[tag.key] = { type: "string", enum: [tag.value] };
    required.push(tag.key);
  }
  for (const field of visibleFields(shape, options)) {
    const schema = schemaOf(field.node, options);
    properties[field.key] = field.nullable ? orNull(schema) : schema;
    if (!field.optional) required.push(field.key);
  }
  return {
    type: "object",
    ...(required.length && { required: required.sort() }),
    ...(Object.keys(properties).length && { properties: sorted(properties) }),
  };
}

function orNull(schema: Json): Json {
  if (schema === true || typeof schema === "boolean") return true;
  if (typeof schema.type === "string" && !schema.enum) return { ...schema, type: [schema.type, "null"] };
  return { anyOf: [schema, { type: "null" }] };
}

function sorted<T>(entries: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function print(schema: object): string {
  return `${JSON.stringify({ $schema: DRAFT, ...schema }, null, 2)}\n`;
}
