import { LIMITS } from "./limits.ts";
import { isObject, type JsonObject, mismatch, type Shape, text } from "./shape.ts";

// Half of a surrogate pair is in no UTF-8, and a control character (NUL, a line's end) has no business in an id.
const ID = /^[^\p{Cc}\p{Cs}]+$/u;

/** An id of a thread or of a call. It is opaque, may look like a path, and must never be used as one. */
export const id: Shape<string> = text({
  min: 1,
  max: LIMITS.id,
  matches: { pattern: ID, says: "must be well-formed and without control characters" },
});

/**
 * Whether this can be an id of a thread or of a call at all: text of a bounded length without control characters.
 *
 * @example
 * isId("../../etc"); // true: it is an id, and no path
 * isId("a\0b"); // false
 */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= LIMITS.id && ID.test(value);
}

/** An address, as it was written. */
export function url(...protocols: readonly string[]): Shape<string> {
  const bounded = text({ min: 1, max: LIMITS.url });
  return (value, path) => {
    const written = bounded(value, path);
    const parsed = URL.canParse(written) ? new URL(written) : mismatch(path, "must be a URL");
    if (!protocols.includes(parsed.protocol))
      return mismatch(path, `must begin with ${protocols.map((name) => `${name}//`).join(" or ")}`);
    return written;
  };
}

export const httpUrl: Shape<string> = url("http:", "https:");

/** Any object, as it is: of bounded depth, so that whoever walks it later does not run out of stack. */
export const anyObject: Shape<JsonObject> = (value, path) => {
  if (!isObject(value)) return mismatch(path, "must be an object");
  if (isDeeperThan(value, LIMITS.depth))
    return mismatch(path, `must not be nested deeper than ${LIMITS.depth}`);
  return value;
};

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((part) => isDeeperThan(part, depth - 1));
}
