/** Something that keeps a host from working, in words for people. */
export interface Problem {
  /** What is wrong, in a few words. */
  readonly found: string;
  /** What to do about it, in one sentence. */
  readonly advice: string;
}
