/** A JSON object from a wire: every member may be missing or of another type. */
export type Loose = { readonly [key: string]: unknown };

const NOTHING: Loose = {};

export function objectIn(value: unknown): Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Loose) : NOTHING;
}

export function arrayIn(value: unknown): readonly Loose[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}

export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
