/** Milliseconds as whole seconds, the unit of times in thread and turn objects. Only fields ending in `Ms` are finer. */
export function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
