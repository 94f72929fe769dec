// Random values that our types let us send, without what the peer does not know.
import fc, { type Arbitrary } from "fast-check";
import { check } from "../../../packages/protocol/src/schema-check.ts";
import {
  type Node,
  optionsOf,
  type Schema,
  type Shape,
  shapeOf,
  variantsOf,
} from "../../../packages/protocol/src/schema-language.ts";

export function sendable(node: Node): Arbitrary<unknown> {
  switch (node.kind) {
    case "string":
      return fc.string({ minLength: node.minLength, maxLength: 12 });
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: node.minimum, max: node.maximum });
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "unknown":
      return fc.jsonValue({ maxDepth: 1 });
    case "nothing":
      return fc.constant(undefined);
    case "enum":
      return fc.constantFrom(...node.values);
    case "array":
      return fc.array(sendable(node.item), { maxLength: 3 });
    case "record":
      return fc.dictionary(fc.string({ maxLength: 6 }), sendable(node.value), { maxKeys: 3 });
    case "nullable":
      return fc.oneof(fc.constant(null), sendable(node.inner));
    case "gated":
      return sendable(node.inner);
    case "object":
      return objects(shapeOf(node));
    case "tagged":
      return fc.oneof(
        ...[...variantsOf(node)].flatMap(([tag, shapes]) =>
          shapes.map((shape) => objects(shape).map((fields) => ({ [node.tag]: tag, ...fields }))),
        ),
      );
    case "union":
      return fc.oneof(...optionsOf(node).map(sendable));
  }
}

function objects(shape: Shape): Arbitrary<object> {
  const theirs = shape.filter((field) => !field.ours);
  const model: Record<string, Arbitrary<unknown>> = {};
  for (const field of theirs) {
    const values = sendable(field.node);
    model[field.key] = field.nullable ? fc.oneof(fc.constant(null), values) : values;
  }
  const requiredKeys = theirs.filter((field) => !field.optional).map((field) => field.key);
  return fc.record(model, { requiredKeys });
}

/** A copy of `value` without the fields that are ours. */
export function withoutOurs(node: Node, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  switch (node.kind) {
    case "array":
      return Array.isArray(value) ? value.map((item) => withoutOurs(node.item, item)) : value;
    case "nullable":
    case "gated":
      return withoutOurs(node.inner, value);
    case "object":
      return strip(shapeOf(node), value);
    case "tagged": {
      const tag = (value as Record<string, unknown>)[node.tag];
      return strip((variantsOf(node).get(String(tag)) ?? []).flat(), value);
    }
    case "union": {
      const fits = (option: Node) =>
        !check(option as unknown as Schema<unknown>, structuredClone(value), {
          experimental: true,
          method: "",
        });
      const option = optionsOf(node).find(fits);
      return option ? withoutOurs(option, value) : value;
    }
    default:
      return value;
  }
}

function strip(shape: Shape, value: unknown): unknown {
  if (typeof value !== "object" || Array.isArray(value)) return value;
  const copy = { ...value } as Record<string, unknown>;
  for (const field of shape) {
    if (field.ours) delete copy[field.key];
    else if (field.key in copy) copy[field.key] = withoutOurs(field.node, copy[field.key]);
  }
  return copy;
}
