/** Maps clients' idempotency keys to threads, for all hosts that share the store. */
export interface StartIdempotencyKeys {
  /**
   * Reserves a key for a thread. If the key was reserved before, returns the earlier thread. That thread may not
   * exist yet; this host then has to create it.
   */
  reserve(key: string, threadId: string): Promise<string>;
  /** Removes the reservation. */
  release(key: string): Promise<void>;
}
