/**
 * The state of a loaded thread that no client uses, directly or through one of its parents. This state is not
 * recorded, because a host's connections end with the host.
 */
export interface Unattended {
  /** The time when the last client left, by the machine's clock. */
  readonly since: number;
  /** How long a request may wait for an answer after `since`. */
  readonly questionDeadlineMs: number;
}

/** Whether a client uses a thread: null if so, else since when none does. */
export type Presence = Unattended | null;
