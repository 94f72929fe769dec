// Generates values of the protocol's schemas in which every field is there.
import type { Schema } from "@bobbin/protocol";
import {
  type Node,
  nodeOf,
  optionsOf,
  type Shape,
  shapeOf,
  variantsOf,
} from "../../packages/protocol/src/schema-language.ts";
import type { Random } from "../simulation/random.ts";

/** Limit on the depth, at which recursive types stop. */
const MAX_DEPTH = 10;

export interface FullOptions {
  readonly random: Random;
  /** The text of each string, by the name of its field. */
  text(key: string): string;
}

/** A value with every field. Variants and options are chosen at random. */
export function fullValue(schema: Schema<unknown>, options: FullOptions): unknown {
  return full(nodeOf(schema), options, "value", 0);
}

/** One value for each variant of a tagged type. */
export function fullVariants(schema: Schema<unknown>, options: FullOptions): Record<string, unknown>[] {
  const node = nodeOf(schema);
  if (node.kind !== "tagged") throw new Error("not a tagged type");
  return [...variantsOf(node)].flatMap(([tag, shapes]) =>
    shapes.map((shape) => ({ [node.tag]: tag, ...fields(shape, options, 1) })),
  );
}

function full(node: Node, options: FullOptions, key: string, depth: number): unknown {
  const { random, text } = options;
  const inner = (next: Node, name = key) => full(next, options, name, depth + 1);
  switch (node.kind) {
    case "string":
      return text(key);
    case "boolean":
      return random.chance(0.5);
    case "integer":
      return Math.min(node.maximum, Math.max(node.minimum, 1));
    case "number":
      return 1;
    case "unknown":
      return { [text("key")]: text(key) };
    case "nothing":
      return undefined;
    case "enum":
      return random.pick(node.values);
    case "array":
      return depth > MAX_DEPTH ? [] : [inner(node.item)];
    case "record":
      return depth > MAX_DEPTH ? {} : { [text("key")]: inner(node.value) };
    case "nullable":
      return depth > MAX_DEPTH ? null : inner(node.inner);
    case "gated":
      return inner(node.inner);
    case "object":
      return fields(shapeOf(node), options, depth);
    case "tagged": {
      const [tag, shapes] = random.pick([...variantsOf(node)]);
      return { [node.tag]: tag, ...fields(random.pick(shapes), options, depth) };
    }
    case "union":
      return inner(random.pick(optionsOf(node)));
  }
}

function fields(shape: Shape, options: FullOptions, depth: number): Record<string, unknown> {
  const there = shape.filter(({ outside }) => outside === undefined);
  return Object.fromEntries(there.map(({ key, node }) => [key, full(node, options, key, depth + 1)]));
}
