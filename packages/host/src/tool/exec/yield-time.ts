/** The wait that a model asked for, limited to `min` and `max`. */
export function yieldTime(
  ms: number | undefined,
  { usual, min, max }: { readonly usual: number; readonly min: number; readonly max: number },
): number {
  return Math.min(max, Math.max(min, ms ?? usual));
}
