/** An unchecked JSON object from a server: every member may be missing or have another type. */
export type Loose = { readonly [key: string]: unknown };

const NOTHING: Loose = {};

/** The value as an object; an empty one if it has another type. */
export function objectIn(value: unknown): Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Loose) : NOTHING;
}

/** The value as an array of objects; an empty one if it has another type. */
export function arrayIn(value: unknown): readonly Loose[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}

/** The value as a string; empty if it has another type. */
export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
