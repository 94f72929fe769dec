/**
 * Where the host is known not to do what the reference says. Each is left out of the runs until it is mended;
 * then its line goes.
 */
export const OPEN_FINDINGS = {
  /** An unload does not wait for a replay: the rest of it comes after `thread/archived` was told. */
  replayOutlivesItsThread: true,
  /** A fork whose last turn had failed is idle, and says `systemError` with its next change, a name say. */
  forkOfFailureFailsLater: true,
  /**
   * A thread that was resumed from the archive is unloaded without `thread/closed` by `thread/unarchive`, and by
   * `thread/archive`, which then refuses.
   */
  archivedUnloadsInSilence: true,
  /** After a power cut the index may know more than the journals: its rows are newer, or of threads that are gone. */
  indexAheadAfterPowerCut: true,
  /** A thread that is deleted while someone still gets a replay of it leaves an error in the log. */
  replayOfDeletedIsLogged: false,
};
