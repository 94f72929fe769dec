// Generates values from the protocol's schemas: valid ones and slightly invalid ones.
import {
  type Node,
  optionsOf,
  type Shape,
  shapeOf,
  variantsOf,
} from "../../packages/protocol/src/schema-language.ts";
import type { Random } from "../simulation/random.ts";

/** Existing values for a field of this name, so that requests reach existing objects. */
export type Known = (key: string) => readonly string[];

/** Stands for a number that JSON can express and JavaScript cannot represent. */
const INFINITE = "\u0001infinite\u0001";

/** Serializes to JSON, including numbers that `JSON.stringify` would not write. */
export function toJson(value: unknown): string {
  return (JSON.stringify(value) ?? "null").replaceAll(JSON.stringify(INFINITE), "1e999");
}

// None of these is a path outside of the host's folder, because some methods write and remove files.
const WORDS = ["a", "hello", "main", "x y", "default", "01a1e0d3-0000-7000-8000-000000000000", "tmp", "1"];
const ODD_STRINGS = [
  "",
  " ",
  "\n",
  "\0",
  "a\0b",
  "\ud800",
  "x\udc00y",
  "\u2028",
  "\u202e",
  "é👩‍👩‍👧‍👦",
  "\uffff",
  "NaN",
  "-1",
  "1e999",
  "null",
  "__proto__",
  "constructor",
  "toString",
  "a/../b",
  "%00",
  "$(id)",
  "'; DROP TABLE threads; --",
  "x/".repeat(2_500),
  "x".repeat(300),
];
const LONG = "long ".repeat(20_000);
const ODD_NUMBERS = [0, -0, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 2 ** 63, 1e308, -1e308, 5e-324];
const ODD_KEYS = ["__proto__", "constructor", "toString", "hasOwnProperty", "length", "type", "id", "", "0"];
/** Limit on the depth, at which recursive types stop. Enough for most schemas. */
const MAX_DEPTH = 8;

export function oddString(random: Random): string {
  return random.chance(0.02) ? LONG : random.pick(ODD_STRINGS);
}

/** Any JSON value, without a schema. */
export function anything(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 5 : 8)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.chance(0.1) ? INFINITE : random.pick(ODD_NUMBERS);
    case 3:
      return oddString(random);
    case 4:
      return random.pick(WORDS);
    case 5:
      return Array.from({ length: random.below(3) }, () => anything(random, depth + 1));
    case 6:
      return nested(random.pick([3, 30, 100]));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(4) }, () => [
          random.chance(0.5) ? random.pick(ODD_KEYS) : random.pick(WORDS),
          anything(random, depth + 1),
        ]),
      );
  }
}

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** A value that the schema accepts. Optional keys may be present or not. */
export function validValue(node: Node, random: Random, known: Known, key = "", depth = 0): unknown {
  const inner = (next: Node, name = key) => validValue(next, random, known, name, depth + 1);
  switch (node.kind) {
    case "string": {
      const there = known(key);
      if (there.length > 0 && random.chance(0.95)) return random.pick(there);
      const text = random.chance(0.3) ? oddString(random) : random.pick(WORDS);
      return text.length < node.minLength ? random.pick(WORDS).padEnd(node.minLength, "x") : text;
    }
    case "boolean":
      return random.chance(0.5);
    case "integer": {
      const { minimum, maximum } = node;
      if (random.chance(0.2)) return random.pick([minimum, maximum]);
      return Math.min(maximum, Math.max(minimum, random.between(0, 5)));
    }
    case "number":
      return random.pick(ODD_NUMBERS);
    case "unknown":
      return anything(random);
    case "nothing":
      return undefined;
    case "enum":
      return random.pick(node.values);
    case "array": {
      const length = depth > MAX_DEPTH ? 0 : random.below(3);
      return Array.from({ length }, () => inner(node.item));
    }
    case "record": {
      const names = Array.from({ length: depth > MAX_DEPTH ? 0 : random.below(3) }, () =>
        random.chance(0.3) ? random.pick(ODD_KEYS) : random.pick(WORDS),
      );
      return Object.fromEntries(names.map((name) => [name, inner(node.value, name)]));
    }
    case "nullable":
      return random.chance(0.2) || depth > MAX_DEPTH ? null : inner(node.inner);
    case "gated":
      return inner(node.inner);
    case "object":
      return fields(shapeOf(node), random, inner, depth);
    case "tagged": {
      const [tag, shapes] = random.pick([...variantsOf(node)]);
      return { [node.tag]: tag, ...fields(random.pick(shapes), random, inner, depth) };
    }
    case "union":
      return inner(random.pick(optionsOf(node)));
  }
}

function fields(
  shape: Shape,
  random: Random,
  inner: (node: Node, name: string) => unknown,
  depth: number,
): Record<string, unknown> {
  // Only a few optional keys at a time: with all of them, most requests would be refused early.
  const share = random.pick([0, 0.1, 0.1, 0.3, depth > MAX_DEPTH ? 0 : 0.8]);
  const value: Record<string, unknown> = {};
  for (const field of shape) {
    if (field.outside !== undefined && !random.chance(0.02)) continue;
    if (field.optional && !random.chance(share)) continue;
    value[field.key] = field.nullable && random.chance(0.1) ? null : inner(field.node, field.key);
  }
  return value;
}

/** A copy of the value with one change. */
export function mutated(value: unknown, random: Random): unknown {
  const copy = structuredClone(value);
  const places = containers(copy);
  if (places.length === 0 || random.chance(0.03)) return anything(random);
  const place = random.pick(places);
  const keys = Object.keys(place);
  const key = keys.length === 0 ? undefined : random.pick(keys);
  switch (key === undefined ? 0 : random.below(6)) {
    case 0:
      put(place, Array.isArray(place) ? String(place.length) : random.pick(ODD_KEYS), anything(random));
      break;
    case 1:
      if (Array.isArray(place)) place.splice(Number(key), 1);
      else delete place[key!];
      break;
    case 2:
      put(place, key!, null);
      break;
    case 3:
      put(place, key!, bent(Reflect.get(place, key!), random));
      break;
    case 4:
      if (Array.isArray(place)) place.push(...Array.from({ length: 100 }, () => place[Number(key)]));
      else put(place, key!, [place[key!]]);
      break;
    default:
      put(place, key!, anything(random));
  }
  return copy;
}

/**
 * An almost equal text, so that the form of a cursor, for example, is kept. A path stays in its folder, because some
 * methods make, write and remove files.
 */
function bent(value: unknown, random: Random): string {
  if (typeof value !== "string" || value === "" || random.chance(0.3)) return oddString(random);
  const fixed = value.startsWith("/") ? value.lastIndexOf("/") + 1 : 0;
  const at = fixed + random.below(Math.max(1, value.length - fixed));
  const put = random.pick(["0", "9", "999999999", "-", ".", "a", "\0", value]);
  const text = value.slice(0, at) + put + value.slice(at + random.below(3));
  return text.endsWith("/..") ? value : text;
}

type Container = Record<string, unknown> | unknown[];

/** Sets a key even if objects inherit its name, as `JSON.parse` does. */
function put(place: Container, key: string, value: unknown): void {
  Object.defineProperty(place, key, { value, enumerable: true, configurable: true, writable: true });
}

function containers(value: unknown): Container[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Container, ...Object.values(value).flatMap(containers)];
}
