/** A problem that keeps a host or a server from working, described for the user. */
export interface Problem {
  /** The problem, in a few words. */
  readonly found: string;
  /** What the user can do, in one sentence. */
  readonly advice: string;
}
