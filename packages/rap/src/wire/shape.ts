// Parser combinators for messages. A shape returns the parsed value or throws a Mismatch; `parse` turns that into a
// `Parsed` result, so that no Mismatch leaves this folder.

/** Why a value is not a valid message. `path` names the field, such as `tools[2].name`. */
export interface Problem {
  /** The field; empty for the whole message. */
  readonly path: string;
  /** What is wrong with it. */
  readonly says: string;
}

/** A parsed message, or why the value is not a valid message. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

/** An object of JSON. */
export type JsonObject = { readonly [key: string]: unknown };

export type Shape<T> = (value: unknown, path: string) => T;

export type Read<S> = S extends Shape<infer T> ? T : never;

class Mismatch extends Error {
  readonly problem: Problem;
  constructor(path: string, says: string) {
    super(says);
    this.problem = { path, says };
  }
}

export function mismatch(path: string, says: string): never {
  throw new Mismatch(path, says);
}

export function parse<T>(shape: Shape<T>, value: unknown): Parsed<T> {
  try {
    return { ok: true, value: shape(value, "") };
  } catch (error) {
    if (error instanceof Mismatch) return { ok: false, problem: error.problem };
    throw error;
  }
}

/**
 * Whether a JSON value is an object, and neither null nor an array.
 *
 * @example
 * isObject({}); // true
 * isObject([]); // false
 */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface TextBounds {
  readonly min?: number;
  readonly max?: number;
  readonly matches?: { readonly pattern: RegExp; readonly says: string };
}

export function text({ min = 0, max, matches }: TextBounds = {}): Shape<string> {
  return (value, path) => {
    if (typeof value !== "string") return mismatch(path, "must be a string");
    if (value.length < min)
      return mismatch(path, min === 1 ? "must not be empty" : `must have ${min} or more`);
    if (max !== undefined && value.length > max) return mismatch(path, `must not be longer than ${max}`);
    if (matches !== undefined && !matches.pattern.test(value)) return mismatch(path, matches.says);
    return value;
  };
}

export const flag: Shape<boolean> = (value, path) =>
  typeof value === "boolean" ? value : mismatch(path, "must be true or false");

export const natural: Shape<number> = (value, path) =>
  Number.isSafeInteger(value) && (value as number) >= 0
    ? (value as number)
    : mismatch(path, "must be a whole number from 0 on");

export function exactly<T extends string>(wanted: T): Shape<T> {
  return (value, path) => (value === wanted ? wanted : mismatch(path, `must be ${JSON.stringify(wanted)}`));
}

/** Gives `otherwise` for a field that is absent or null: RAP treats both alike. */
export function orElse<T, E>(shape: Shape<T>, otherwise: E): Shape<T | E> {
  return (value, path) => (value === undefined || value === null ? otherwise : shape(value, path));
}

export function list<T>(of: Shape<T>, { min = 0, max }: { min?: number; max: number }): Shape<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) return mismatch(path, "must be an array");
    if (value.length < min) return mismatch(path, `must have ${min} or more entries`);
    if (value.length > max) return mismatch(path, `must not have more than ${max} entries`);
    return value.map((entry, index) => of(entry, `${path}[${index}]`));
  };
}

type Fields = { readonly [key: string]: Shape<unknown> };
/** Fields whose shape may give undefined are optional properties. */
type ReadFields<F extends Fields> = {
  readonly [K in keyof F as undefined extends Read<F[K]> ? never : K]: Read<F[K]>;
} & {
  readonly [K in keyof F as undefined extends Read<F[K]> ? K : never]?: Exclude<Read<F[K]>, undefined>;
};

/** Drops members that `fields` does not name, because a later protocol version may add members. */
export function object<F extends Fields>(fields: F): Shape<ReadFields<F>> {
  const entries = Object.entries(fields);
  return (value, path) => {
    if (!isObject(value)) return mismatch(path, "must be an object");
    const read: Record<string, unknown> = {};
    for (const [key, shape] of entries) {
      const part = shape(
        Object.hasOwn(value, key) ? value[key] : undefined,
        path === "" ? key : `${path}.${key}`,
      );
      if (part !== undefined) read[key] = part;
    }
    return read as ReadFields<F>;
  };
}
