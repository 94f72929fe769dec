/** An estimate of a value's size in memory and in a journal: its characters, and 8 for each value that is no string. */
export function weightOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (Array.isArray(value)) return 8 + sum(value, weightOf);
  const fields = value as Readonly<Record<string, unknown>>;
  return 8 + sum(Object.keys(fields), (name) => name.length + weightOf(fields[name]));
}

/** Sizes of immutable values. */
const known = new WeakMap<object, number>();

/** Like `weightOf`, for a value that never changes. The result is cached. */
export function knownWeight(value: unknown): number {
  if (typeof value !== "object" || value === null) return weightOf(value);
  const before = known.get(value);
  if (before !== undefined) return before;
  const weight = weightOf(value);
  known.set(value, weight);
  return weight;
}

export function sum<T>(values: readonly T[], weigh: (value: T) => number): number {
  let total = 0;
  for (const value of values) total += weigh(value);
  return total;
}
