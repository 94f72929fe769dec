import { LIMITS } from "./limits.ts";
import { exactly, isObject, list, mismatch, object, type Problem, parse, type Shape, text } from "./shape.ts";

/** An image in base64. */
export interface Image {
  /** The bytes in base64. */
  readonly data: string;
  /** Such as `image/png`. */
  readonly mediaType: string;
}

/** A part of a result that the model gets. */
export type ContentItem =
  | { readonly type: "text"; readonly text: string }
  | ({ readonly type: "image" } & Image);

const imageFields = {
  data: text({
    min: 1,
    matches: { pattern: /^[A-Za-z0-9+/]+={0,2}$/, says: "must be base64" },
  }),
  mediaType: text({
    max: LIMITS.mediaType,
    matches: { pattern: /^image\/[\w.+-]+$/, says: "must be the type of an image" },
  }),
};

const textItem = object({ type: exactly("text"), text: text() });
const imageItem = object({ type: exactly("image"), ...imageFields });

const contentItem: Shape<ContentItem> = (value, path) => {
  if (!isObject(value)) return mismatch(path, "must be an object");
  if (value["type"] === "text") return textItem(value, path);
  if (value["type"] === "image") return imageItem(value, path);
  return mismatch(`${path}.type`, "must be text or image");
};

export const contentItems: Shape<readonly ContentItem[]> = list(contentItem, { min: 1, max: LIMITS.items });

/** One form in which a client may show a result to people. A client shows the first segment whose type it supports. */
export type DisplaySegment =
  | { readonly type: "text"; readonly content: string }
  | { readonly type: "diff"; readonly content: { readonly path: string; readonly patch: string } }
  | { readonly type: "image"; readonly content: Image };

const SEGMENTS: { readonly [T in DisplaySegment["type"]]: Shape<Extract<DisplaySegment, { type: T }>> } = {
  text: object({ type: exactly("text"), content: text() }),
  diff: object({ type: exactly("diff"), content: object({ path: text({ max: 4096 }), patch: text() }) }),
  image: object({ type: exactly("image"), content: object(imageFields) }),
};

const segment: Shape<DisplaySegment | undefined> = (value, path) => {
  if (!isObject(value)) return mismatch(path, "must be an object");
  const { type, content } = value;
  if (typeof type !== "string") return mismatch(`${path}.type`, "must be a string");
  if (Object.hasOwn(SEGMENTS, type)) return SEGMENTS[type as DisplaySegment["type"]](value, path);
  if (typeof content !== "string" && !isObject(content))
    return mismatch(`${path}.content`, "must be a string or an object");
  return undefined;
};
const segments = list(segment, { max: LIMITS.items });

/**
 * The first problem in the `display_as` of a result; undefined if it is valid or absent.
 *
 * @example
 * displayProblem([{ type: "diff", content: "x" }]); // { path: "display_as[0].content", says: "must be an object" }
 */
export function displayProblem(value: unknown): Problem | undefined {
  if (value === undefined || value === null) return undefined;
  const read = parse((whole) => segments(whole, "display_as"), value);
  return read.ok ? undefined : read.problem;
}

/**
 * Parses `display_as`. It is only a hint: segments of unknown types are skipped, as the specification asks, and so are
 * invalid ones.
 */
export const displaySegments: Shape<readonly DisplaySegment[] | undefined> = (value) => {
  if (!Array.isArray(value) || value.length > LIMITS.items) return undefined;
  return value.flatMap((one) => {
    const read = parse(segment, one);
    return read.ok && read.value !== undefined ? [read.value] : [];
  });
};
