// The quick interpreter of the schema, for what the program itself wrote: journals are read record by record, and
// `check`, which explains and repairs what clients send, would take as long as the parsing of the JSON. A schema is
// turned into functions when it is first used.
import { type Node, nodeOf, optionsOf, type Schema, type Shape, shapeOf, variantsOf } from "./schema.ts";

type Test = (value: unknown) => boolean;
type Container = { readonly [key: string]: unknown };

/**
 * Whether a value is what the schema says, as it stands: no other spelling counts, a key that may only be absent is not
 * null, and nothing is changed. Keys that the schema does not name are left alone.
 */
export function conforms(schema: Schema<unknown>, value: unknown): boolean {
  return testOf(nodeOf(schema))(value);
}

const tests = new WeakMap<Node, Test>();

function testOf(node: Node): Test {
  const known = tests.get(node);
  if (known !== undefined) return known;
  const made = makeTest(node);
  tests.set(node, made);
  return made;
}

function makeTest(node: Node): Test {
  switch (node.kind) {
    case "string": {
      const { minLength } = node;
      return minLength === 0 ? isString : (value) => isString(value) && value.length >= minLength;
    }
    case "boolean":
      return isBoolean;
    case "integer": {
      const { minimum, maximum } = node;
      return (value) =>
        Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
    }
    case "number":
      return Number.isFinite;
    case "unknown":
      return isThere;
    case "nothing":
      return (value) => value === undefined || value === null || isObject(value);
    case "enum": {
      const values: ReadonlySet<unknown> = new Set(node.values);
      return (value) => values.has(value);
    }
    case "array":
      return later(() => listTest(testOf(node.item)));
    case "record":
      return later(() => recordTest(testOf(node.value)));
    case "nullable":
      return later(() => {
        const test = testOf(node.inner);
        return (value) => value === null || test(value);
      });
    case "gated":
      return later(() => testOf(node.inner));
    case "object":
      return later(() => {
        const test = shapeTest(shapeOf(node));
        return (value) => isObject(value) && test(value);
      });
    case "tagged":
      return later(() => {
        const { tag } = node;
        const variants = new Map<unknown, readonly ShapeTest[]>();
        for (const [name, shapes] of variantsOf(node)) variants.set(name, shapes.map(shapeTest));
        return (value) => isObject(value) && (variants.get(value[tag])?.some((test) => test(value)) ?? false);
      });
    case "union":
      return later(() => {
        const options = optionsOf(node).map(testOf);
        return (value) => options.some((test) => test(value));
      });
  }
}

/** Named types may contain themselves: their parts are looked at when a value comes. */
function later(make: () => Test): Test {
  let test: Test | undefined;
  return (value) => {
    test ??= make();
    return test(value);
  };
}

type ShapeTest = (value: Container) => boolean;

function shapeTest(shape: Shape): ShapeTest {
  const fields = shape.map(({ key, node, optional, nullable, outside }) => ({
    key,
    optional,
    nullable,
    test: outside === "refused" ? never : testOf(node),
  }));
  return (value) => {
    for (const { key, optional, nullable, test } of fields) {
      const item = value[key];
      if (item === undefined ? !optional : !(item === null && nullable) && !test(item)) return false;
    }
    return true;
  };
}

function listTest(test: Test): Test {
  return (value) => {
    if (!Array.isArray(value)) return false;
    for (const item of value) if (!test(item)) return false;
    return true;
  };
}

function recordTest(test: Test): Test {
  return (value) => {
    if (!isObject(value)) return false;
    for (const key in value) if (!test(value[key])) return false;
    return true;
  };
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isThere(value: unknown): boolean {
  return value !== undefined;
}

function never(): boolean {
  return false;
}

function isObject(value: unknown): value is Container {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
