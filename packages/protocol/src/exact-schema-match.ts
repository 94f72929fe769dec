// A fast validator for data whose faults need no explanation, mostly journal records. `schema-check.ts`, which also
// explains failures and normalizes values, would take as long as parsing the JSON. A schema is compiled to flat arrays
// on first use. That is fast even in code that V8 has not optimized yet, as in a fresh process that resumes a thread.
import {
  type Node,
  nodeOf,
  optionsOf,
  type Schema,
  type Shape,
  shapeOf,
  variantOf,
} from "./schema-language.ts";

type Test = (value: unknown) => boolean;
type Container = { readonly [key: string]: unknown };

/**
 * Whether a value matches the schema exactly: other spellings and null for an absent key are not accepted. Unknown keys
 * are allowed. The value is not changed.
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
        const fields = fieldsOf(shapeOf(node));
        return (value) => isObject(value) && fit(fields, value);
      });
    case "tagged": {
      const { tag } = node;
      const variants = new Map<unknown, readonly Fields[] | undefined>();
      return (value) => {
        if (!isObject(value)) return false;
        const name = value[tag];
        let options = variants.get(name);
        if (options === undefined && typeof name === "string") {
          options = variantOf(node, name)?.map(fieldsOf);
          if (options !== undefined) variants.set(name, options);
        }
        return options !== undefined && fitsOne(options, value);
      };
    }
    case "union":
      return later(() => {
        const options = optionsOf(node).map(testOf);
        return (value) => {
          for (let nth = 0; nth < options.length; nth++) if (options[nth]!(value)) return true;
          return false;
        };
      });
  }
}

/** Builds a test on first use, because types may be recursive. */
function later(make: () => Test): Test {
  let test: Test | undefined;
  return (value) => {
    test ??= make();
    return test(value);
  };
}

const ABSENT = 1;
const NULL = 2;

/** The fields of an object as parallel arrays. */
interface Fields {
  readonly keys: readonly string[];
  /** Bit mask per field: whether it may be absent (`ABSENT`) or null (`NULL`). */
  readonly empty: readonly number[];
  readonly nodes: readonly Node[];
  /** Filled on first use. */
  readonly tests: (Test | undefined)[];
}

function fieldsOf(shape: Shape): Fields {
  const keys: string[] = [];
  const empty: number[] = [];
  const nodes: Node[] = [];
  const made: (Test | undefined)[] = [];
  for (const { key, node, optional, nullable, outside } of shape) {
    keys.push(key);
    empty.push((optional ? ABSENT : 0) | (nullable || node.kind === "nullable" ? NULL : 0));
    nodes.push(node.kind === "nullable" ? node.inner : node);
    made.push(outside === "refused" ? never : undefined);
  }
  return { keys, empty, nodes, tests: made };
}

function fit({ keys, empty, nodes, tests }: Fields, value: Container): boolean {
  for (let nth = 0; nth < keys.length; nth++) {
    const item = value[keys[nth]!];
    if (item === undefined) {
      if ((empty[nth]! & ABSENT) === 0) return false;
    } else if (item !== null || (empty[nth]! & NULL) === 0) {
      tests[nth] ??= testOf(nodes[nth]!);
      if (!tests[nth]!(item)) return false;
    }
  }
  return true;
}

function fitsOne(options: readonly Fields[], value: Container): boolean {
  for (let nth = 0; nth < options.length; nth++) if (fit(options[nth]!, value)) return true;
  return false;
}

function listTest(test: Test): Test {
  return (value) => {
    if (!Array.isArray(value)) return false;
    for (let nth = 0; nth < value.length; nth++) if (!test(value[nth])) return false;
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
