/** Errors of threads: ids, resuming, forks, archive, names, search. */
export const THREAD_ERRORS = {
  invalidThreadId: { wire: -32600, retryable: false, text: (why: string) => `invalid thread id: ${why}` },
  malformedThreadId: { wire: -32602, retryable: false, text: (why: string) => `invalid thread id: ${why}` },
  attachedNeedsSearch: {
    wire: -32600,
    retryable: false,
    text: () => "includeAttachedThreads requires a non-empty searchTerm",
  },
  threadNotFound: { wire: -32600, retryable: false, text: (id: string) => `thread not found: ${id}` },
  threadNotLoaded: { wire: -32600, retryable: false, text: (id: string) => `thread not loaded: ${id}` },
  noRollout: { wire: -32600, retryable: false, text: (id: string) => `no rollout found for thread id ${id}` },
  stalePath: {
    wire: -32600,
    retryable: false,
    text: (id: string, path: string, active: string) =>
      `cannot resume running thread ${id} with stale path: requested \`${path}\`, active \`${active}\``,
  },
  pathNotFound: {
    wire: -32600,
    retryable: false,
    text: (path: string) => `failed to resolve rollout path \`${path}\`: no thread is stored there`,
  },
  historyOfRunning: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `cannot resume thread ${id} with history while it is already running`,
  },
  historyEmpty: { wire: -32600, retryable: false, text: () => "history must not be empty" },
  invalidRelation: {
    wire: -32600,
    retryable: false,
    text: (relation: string, why: string) => `invalid ${relation} thread id: ${why}`,
  },
  searchTermEmpty: {
    wire: -32600,
    retryable: false,
    text: (method: string) => `${method} requires a non-empty searchTerm`,
  },
  searchTermTooLong: {
    wire: -32602,
    retryable: false,
    text: (limit: number) => `searchTerm must not be longer than ${limit} characters`,
  },
  tooManyRecordTypes: {
    wire: -32602,
    retryable: false,
    text: (limit: number) => `types must not have more than ${limit} entries`,
  },
  ephemeralSearch: {
    wire: -32600,
    retryable: false,
    text: () => "ephemeral threads do not support thread/searchOccurrences",
  },
  noReadState: { wire: -32600, retryable: false, text: () => "thread read state unavailable" },
  readStateChanged: { wire: -32600, retryable: false, text: () => "read state changed" },
  twoRelations: {
    wire: -32600,
    retryable: false,
    text: () => "parentThreadId and ancestorThreadId are mutually exclusive",
  },
  twoForkPoints: {
    wire: -32600,
    retryable: false,
    text: () => "`beforeTurnId` cannot be combined with `lastTurnId`",
  },
  notArchived: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `no archived rollout found for thread id ${id}`,
  },
  archived: {
    wire: -32600,
    retryable: false,
    // Clients recognize this text and offer to unarchive the thread.
    text: (id: string) => `session ${id} is archived. Run \`codex unarchive ${id}\` to unarchive it first.`,
  },
  ephemeralTurns: {
    wire: -32600,
    retryable: false,
    text: () => "ephemeral threads do not support includeTurns",
  },
  ephemeralMetadata: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `ephemeral thread does not support metadata updates: ${id}`,
  },
  ephemeralDelete: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `thread is not persisted and cannot be deleted: ${id}`,
  },
  ephemeralRevert: {
    wire: -32600,
    retryable: false,
    text: (_id: string) => "ephemeral threads do not support thread/revert",
  },
  emptyName: { wire: -32600, retryable: false, text: () => "thread name must not be empty" },
  nameTooLong: {
    wire: -32602,
    retryable: false,
    text: (limit: number) => `thread name must not be longer than ${limit} characters`,
  },
  nothingToUpdate: { wire: -32600, retryable: false, text: () => "gitInfo must include at least one field" },
  noMetadata: {
    wire: -32600,
    retryable: false,
    text: () => "thread metadata update must include at least one field",
  },
  gitInfoEmpty: {
    wire: -32600,
    retryable: false,
    text: (field: string) => `gitInfo.${field} must not be empty`,
  },
} as const;
