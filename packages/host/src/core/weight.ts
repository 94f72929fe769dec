/** How much of memory, and of a journal, a value takes, about: characters, and a little for all else. */
export function weightOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (Array.isArray(value)) return 8 + sum(value, weightOf);
  const fields = value as Readonly<Record<string, unknown>>;
  return 8 + sum(Object.keys(fields), (name) => name.length + weightOf(fields[name]));
}

export function sum<T>(values: readonly T[], weigh: (value: T) => number): number {
  let total = 0;
  for (const value of values) total += weigh(value);
  return total;
}
