/** A time that a model chose, within bounds. */
export function yieldTime(
  ms: number | undefined,
  { usual, min, max }: { readonly usual: number; readonly min: number; readonly max: number },
): number {
  return Math.min(max, Math.max(min, ms ?? usual));
}
