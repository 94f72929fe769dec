/** Times in thread and turn objects are whole seconds; only fields that end in Ms are finer. */
export function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
