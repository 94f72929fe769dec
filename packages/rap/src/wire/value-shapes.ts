import { LIMITS } from "./limits.ts";
import { isObject, type JsonObject, mismatch, type Shape, text } from "./shape.ts";

// Excludes lone surrogates, which UTF-8 cannot encode, and control characters such as NUL and line breaks.
const ID = /^[^\p{Cc}\p{Cs}]+$/u;

/** The id of a thread or of a call. Opaque: it may look like a path, and must never be used as one. */
export const id: Shape<string> = text({
  min: 1,
  max: LIMITS.id,
  matches: { pattern: ID, says: "must be well-formed and without control characters" },
});

/**
 * Whether a value is a valid id of a thread or a call: a non-empty text of limited length without control characters.
 *
 * @example
 * isId("../../etc"); // true: it is an id, and no path
 * isId("a\0b"); // false
 */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= LIMITS.id && ID.test(value);
}

/** An absolute URL with one of the given protocols (such as `"https:"`), returned as it was written. */
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

/** Any JSON object, unchanged. Its depth is limited, so that recursive code cannot overflow the stack. */
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
