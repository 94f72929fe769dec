/** Errors of stored threads: claims, damaged journals, failed writes. */
export const STORAGE_ERRORS = {
  heldElsewhere: {
    wire: -32600,
    retryable: true,
    text: (id: string, holder: string) =>
      `thread ${id} already has an active writer: host ${holder} on the same home`,
  },
  networkHome: {
    wire: -32600,
    retryable: false,
    text: (home: string) =>
      `${home} is on a network file system, where threads cannot be stored safely; set BOBBIN_HOME to a local folder`,
  },
  newerJournal: {
    wire: -32600,
    retryable: false,
    text: () => "The thread was written by a newer version of this program; use that version to open it",
  },
  journalDamaged: {
    wire: -32600,
    retryable: false,
    text: (why: string) => `The thread's journal is damaged and cannot be read: ${why}`,
  },
  storageFailed: {
    wire: -32603,
    retryable: true,
    text: (why: string) => `Stored data could not be read or written: ${why}`,
  },
  threadBroken: {
    wire: -32603,
    retryable: false,
    text: (id: string) =>
      `Thread ${id} has failed; see the log for the reason, then unload the thread and load it again`,
  },
  notSaved: { wire: -32603, retryable: true, text: (why: string) => `Could not be saved: ${why}` },
} as const;
