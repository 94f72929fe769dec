/** A thread that a host has acknowledged. It is stored with its first use. */
export interface StartingThread {
  readonly hostId: string;
  readonly owner: string;
}

/** Claims: a host's right to write a thread. `Journal.open` takes a claim, `ThreadJournal.close` releases it. */
export interface Claims {
  /** The ID of this host for other hosts. */
  readonly hostId: string;
  /** The ID of the other host that has the thread loaded; undefined if there is none, or if it is unknown. */
  holder(threadId: string): Promise<string | undefined>;
  /**
   * The other living host that has started a thread and not stored it yet, and the thread's owner; undefined if there
   * is none.
   */
  starting(threadId: string): Promise<StartingThread | undefined>;
  /**
   * The other hosts that have these threads loaded, by thread ID. Cheap enough for lists; the result may be a second
   * old.
   */
  holders(threadIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Threads with a claim, of living and of dead hosts. */
  held(): Promise<readonly string[]>;
  /** Threads whose claims belong to hosts that have died. */
  abandoned(): Promise<readonly string[]>;
  /** Removes a dead host's claim on a thread that no longer exists. */
  disown(threadId: string): Promise<void>;
  /**
   * Registers a listener for threads whose claim this host loses to another host. From then on, this host's writes are
   * refused. The listener is called before the append that detects the loss resolves with `conflict`.
   */
  onLost(listener: (threadId: string) => void): void;
  /** Whether all threads must be checked, because claims, commits or index rows may have been lost in a power cut. */
  needsFullRecovery(): Promise<boolean>;
  /** Records that all threads were checked and recovered. */
  markFullyRecovered(): Promise<void>;
  /** Announces that this host is shutting down. Other hosts that want its threads then wait for them. */
  leave(): Promise<void>;
}
