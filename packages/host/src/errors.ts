/**
 * Every error that a client can get, once: the stable `data.code`, the JSON-RPC code, whether trying again
 * can help, and the text. Texts that clients of this protocol match word for word are kept to the letter.
 */
const catalogue = {
  malformedJson: { wire: -32700, retryable: false, text: (why: string) => `Parse error: ${why}` },
  invalidFrame: { wire: -32600, retryable: false, text: (why: string) => `Invalid request: ${why}` },
  messageTooLarge: {
    wire: -32600,
    retryable: false,
    text: (limit: number) => `Message is larger than the limit of ${limit} bytes and was skipped`,
  },
  replyTooLarge: {
    wire: -32600,
    retryable: false,
    text: (limit: number) =>
      `The reply would be larger than the limit of ${limit} bytes; ask for less or page`,
  },
  notInitialized: { wire: -32600, retryable: false, text: () => "Not initialized" },
  alreadyInitialized: { wire: -32600, retryable: false, text: () => "Already initialized" },
  methodNotFound: { wire: -32601, retryable: false, text: (method: string) => `Method not found: ${method}` },
  methodNotImplemented: {
    wire: -32601,
    retryable: false,
    text: (method: string) => `Method not found: ${method} is known to this server but not served by it yet`,
  },
  invalidParams: {
    wire: -32602,
    retryable: false,
    text: (path: string, why: string) => `Invalid params: ${path === "" ? "" : `${path}: `}${why}`,
  },
  experimentalRequired: {
    wire: -32600,
    retryable: false,
    text: (what: string) => `${what} requires experimentalApi capability`,
  },
  notPermitted: {
    wire: -32600,
    retryable: false,
    text: (method: string) => `${method} is for the host's own user, not for a token that names a subject`,
  },
  emptyCommand: { wire: -32600, retryable: false, text: () => "command must not be empty" },
  processHandleTaken: {
    wire: -32600,
    retryable: false,
    text: (handle: string) => `duplicate active process handle: ${JSON.stringify(handle)}`,
  },
  processNotFound: {
    wire: -32600,
    retryable: false,
    text: (handle: string) => `no active process for process handle ${JSON.stringify(handle)}`,
  },
  processNotStarted: {
    wire: -32603,
    retryable: false,
    text: (program: string, why: string) => `failed to spawn process ${program}: ${why}`,
  },
  processInputClosed: {
    wire: -32600,
    retryable: false,
    text: (why: string) => `the process takes no input: ${why}`,
  },
  processIdTaken: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `duplicate active command/exec process id: ${JSON.stringify(id)}`,
  },
  processIdRequired: {
    wire: -32600,
    retryable: false,
    text: () => "command/exec tty or streaming requires a client-supplied processId",
  },
  commandNotFound: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `no active command/exec for process id ${JSON.stringify(id)}`,
  },
  sandboxUnavailable: {
    wire: -32603,
    retryable: false,
    text: (reason: string, advice: string) =>
      `The command cannot be confined on this machine: ${reason}. ${advice}`,
  },
  pathNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (name: string, path: string) =>
      `${name}: this subject may not use ${path}; [subjects] in the host's config.toml lists the folders that it may use`,
  },
  addressNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (name: string, address: string) =>
      `${name}: this subject may not use ${address}; [subjects] in the host's config.toml lists the addresses that it may use`,
  },
  notGranted: {
    wire: -32600,
    retryable: false,
    text: (what: string, grant: string) =>
      `${what} is not allowed for this subject: [subjects] in the host's config.toml does not grant "${grant}"`,
  },
  invalidClientName: {
    wire: -32600,
    retryable: false,
    text: (name: string) => `Invalid clientInfo.name: '${name}'. Must be a valid HTTP header value.`,
  },
  invalidCursor: { wire: -32600, retryable: false, text: (cursor: string) => `invalid cursor: ${cursor}` },
  overloaded: { wire: -32001, retryable: true, text: () => "Server overloaded; retry later." },
  shuttingDown: { wire: -32001, retryable: true, text: () => "Server is shutting down; retry later." },
  invalidThreadId: { wire: -32600, retryable: false, text: (why: string) => `invalid thread id: ${why}` },
  malformedThreadId: { wire: -32602, retryable: false, text: (why: string) => `invalid thread id: ${why}` },
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
    text: (path: string) => `failed to resolve rollout path \`${path}\`: no thread is kept there`,
  },
  historyOfRunning: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `cannot resume thread ${id} with history while it is already running`,
  },
  historyEmpty: { wire: -32600, retryable: false, text: () => "history must not be empty" },
  unknownEnvironment: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `unknown turn environment id \`${id}\``,
  },
  twoEnvironments: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `duplicate turn environment id \`${id}\``,
  },
  environmentCwd: {
    wire: -32600,
    retryable: false,
    text: (id: string, cwd: string) =>
      `invalid cwd for environment \`${id}\`: path \`${cwd}\` does not use absolute POSIX or Windows path syntax`,
  },
  noPermissionProfile: {
    wire: -32602,
    retryable: false,
    text: (method: string) =>
      `\`permissionProfile\` is no longer supported for \`${method}\`; use \`permissions\` with a named profile id instead`,
  },
  turnNotFound: { wire: -32600, retryable: false, text: (id: string) => `turn not found: ${id}` },
  invalidRelation: {
    wire: -32600,
    retryable: false,
    text: (relation: string, why: string) => `invalid ${relation} thread id: ${why}`,
  },
  sortNeedsSection: {
    wire: -32600,
    retryable: false,
    text: () => "section-position sorting requires a section filter",
  },
  searchTermEmpty: {
    wire: -32600,
    retryable: false,
    text: () => "thread/search requires a non-empty searchTerm",
  },
  twoSandboxPolicies: {
    wire: -32600,
    retryable: false,
    text: (one: string, other: string) => `\`${one}\` cannot be combined with \`${other}\``,
  },
  twoSandboxes: {
    wire: -32600,
    retryable: false,
    text: (other: string) => `\`permissions\` cannot be combined with \`${other}\``,
  },
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
    // Clients that offer to unarchive it look for these words.
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
  ephemeralSection: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `ephemeral thread does not support section moves: ${id}`,
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
  invalidDenial: {
    wire: -32600,
    retryable: false,
    text: (problem: string) => `event is not the denial of a review: ${problem}`,
  },
  unknownDenial: {
    wire: -32600,
    retryable: false,
    text: (reviewId: string) =>
      `no denied review ${reviewId} waits for an approval in this thread: it may be too old, or was approved and used`,
  },
  nothingToInject: { wire: -32600, retryable: false, text: () => "items must not be empty" },
  invalidResponseItem: {
    wire: -32600,
    retryable: false,
    text: (at: number, problem: string) => `items[${at}] is not a valid response item: ${problem}`,
  },
  contextNameKind: {
    wire: -32600,
    retryable: false,
    text: () => "additional context name is only supported for untrusted context",
  },
  contextName: {
    wire: -32600,
    retryable: false,
    text: () => "additional context name must match [a-z][a-z0-9_]{0,63}",
  },
  remoteImage: {
    wire: -32600,
    retryable: false,
    text: () => "remote image URLs are not supported; use an inline data URL instead",
  },
  inputTooLarge: {
    wire: -32602,
    retryable: false,
    text: (limit: number) => `Input exceeds the maximum length of ${limit} characters.`,
  },
  turnInProgress: {
    wire: -32600,
    retryable: true,
    text: (turnId: string) => `Cannot do this while a turn is in progress: ${turnId}`,
  },
  historyMoved: {
    wire: -32600,
    retryable: true,
    text: () => "The thread has moved on; read it again and retry",
  },
  inputEmpty: { wire: -32600, retryable: false, text: () => "input must not be empty" },
  expectedTurnEmpty: { wire: -32600, retryable: false, text: () => "expectedTurnId must not be empty" },
  noActiveTurnToSteer: { wire: -32600, retryable: false, text: () => "no active turn to steer" },
  steerMismatch: {
    wire: -32600,
    retryable: false,
    text: (expected: string, found: string) =>
      `expected active turn id \`${expected}\` but found \`${found}\``,
  },
  reviewTargetEmpty: { wire: -32600, retryable: false, text: (name: string) => `${name} must not be empty` },
  turnNotSteerable: {
    wire: -32600,
    retryable: true,
    text: (kind: "compact" | "review") => `cannot steer a ${kind} turn`,
  },
  noActiveTurnToInterrupt: { wire: -32600, retryable: false, text: () => "no active turn to interrupt" },
  turnIdMismatch: {
    wire: -32600,
    retryable: false,
    text: (expected: string, found: string) => `expected active turn id ${expected} but found ${found}`,
  },
  unknownModelProvider: {
    wire: -32600,
    retryable: false,
    text: (id: string, known: string) => `unknown model provider: ${id} (known: ${known})`,
  },
  turnAlreadyActive: {
    wire: -32600,
    retryable: true,
    text: () => "thread already has an active or pending turn",
  },
  queueFull: {
    wire: -32600,
    retryable: true,
    text: (limit: number) => `queue cannot contain more than ${limit} submissions`,
  },
  queueTooLarge: {
    wire: -32600,
    retryable: true,
    text: (limit: number) => `queue cannot contain more than ${limit} characters`,
  },
  queueEmpty: { wire: -32600, retryable: false, text: () => "queue is empty" },
  queueNeedsInput: {
    wire: -32600,
    retryable: false,
    text: () => "only user input can be added to the user-message queue",
  },
  queueOrder: {
    wire: -32600,
    retryable: false,
    text: () => "queue reorder must include every queued submission exactly once",
  },
  submissionNotFound: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `queued submission not found: ${id}`,
  },
  resumeFirst: {
    wire: -32600,
    retryable: false,
    text: () => "resume the thread before starting a queued message",
  },
  ephemeralQueue: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `ephemeral thread does not support queued submissions: ${id}`,
  },
  noGoal: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `cannot update goal for thread ${id}: no goal exists`,
  },
  goalEmpty: { wire: -32600, retryable: false, text: () => "goal objective must not be empty" },
  goalTooLong: {
    wire: -32600,
    retryable: false,
    text: (limit: number) => `goal objective must be at most ${limit} characters`,
  },
  goalBudget: { wire: -32600, retryable: false, text: () => "goal budgets must be positive when provided" },
  goalBudgetTooLarge: {
    wire: -32600,
    retryable: false,
    text: (budget: number, most: number) =>
      `goal token budget ${budget} exceeds the maximum allowed goal token budget of ${most}`,
  },
  goalUnfinished: {
    wire: -32600,
    retryable: false,
    text: () => "this thread has a goal that is not finished: finish that one first",
  },
  noGoalToFinish: { wire: -32600, retryable: false, text: () => "this thread has no goal" },
  ephemeralGoal: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `ephemeral thread does not support goals: ${id}`,
  },
  deferredEphemeral: {
    wire: -32600,
    retryable: false,
    text: () => "`deferGoalContinuation` cannot be combined with `ephemeral`",
  },
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
      `${home} is on a network file system, where threads can not be kept safely; set BOBBIN_HOME to a local folder`,
  },
  newerJournal: {
    wire: -32600,
    retryable: false,
    text: () => "The thread was written by a later version of this program, which is needed to open it",
  },
  journalDamaged: {
    wire: -32600,
    retryable: false,
    text: (why: string) => `The thread's journal is damaged and cannot be read: ${why}`,
  },
  badDynamicTools: { wire: -32600, retryable: false, text: (why: string) => why },
  badConfig: {
    wire: -32600,
    retryable: false,
    text: (why: string) => `failed to load configuration: ${why}`,
  },
  configLayerReadonly: {
    wire: -32600,
    retryable: false,
    text: () => "Only writes to the user config are allowed",
  },
  configVersionConflict: {
    wire: -32600,
    retryable: true,
    text: () => "Configuration was modified since last read. Fetch latest version and retry.",
  },
  configValidationError: { wire: -32600, retryable: false, text: (why: string) => why },
  storageFailed: {
    wire: -32603,
    retryable: true,
    text: (why: string) => `The thread could not be saved: ${why}`,
  },
  threadBroken: {
    wire: -32603,
    retryable: false,
    text: (id: string) => `Thread ${id} has failed, and the log says why; unload it, and load it again`,
  },
  internal: {
    wire: -32603,
    retryable: false,
    text: (reference: string) => `Internal error (log reference ${reference})`,
  },
  grantNotFound: {
    wire: -32602,
    retryable: false,
    text: (id: string) => `the thread has no grant ${id}; thread/grants/list shows those that it has`,
  },
  ruleNotFound: {
    wire: -32602,
    retryable: false,
    text: (prefix: string) =>
      `default.rules has no line that allows ${prefix}; edit other rules in their files`,
  },
  sectionNotFound: {
    wire: -32602,
    retryable: false,
    text: (id: string) => `thread section not found: ${id}`,
  },
  sectionMissing: { wire: -32600, retryable: false, text: (id: string) => `section ${id} does not exist` },
  sectionNameEmpty: { wire: -32602, retryable: false, text: () => "section name must not be empty" },
  notInSection: {
    wire: -32600,
    retryable: false,
    text: (id: string, sectionId: string) => `before thread ${id} is not in section ${sectionId}`,
  },
  beforeNothing: {
    wire: -32600,
    retryable: false,
    text: () => "beforeThreadId requires a non-null sectionId",
  },
  beforeItself: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `thread ${id} cannot be moved before itself`,
  },
  sectionFull: {
    wire: -32600,
    retryable: false,
    text: () => "There is no room between these two threads; move one of them first",
  },
  sectionBuiltIn: {
    wire: -32602,
    retryable: false,
    text: (id: string) => `thread section ${id} is built in: it cannot be changed or deleted`,
  },
  tooManySections: {
    wire: -32600,
    retryable: false,
    text: (limit: number) => `There are ${limit} thread sections already; delete one first`,
  },
  notSaved: { wire: -32603, retryable: true, text: (why: string) => `Could not be saved: ${why}` },
  // The last ones end turns: they are the `code` of a turn's error.
  itemTooLarge: {
    wire: -32600,
    retryable: false,
    text: (limit: number) =>
      `The model's answer was stopped: one of its items is larger than ${limit} bytes (model_item_max_bytes in config.toml).`,
  },
  answerTooLarge: {
    wire: -32600,
    retryable: false,
    text: (limit: number) =>
      `The model's answer was stopped: it is larger than ${limit} bytes (model_answer_max_bytes in config.toml).`,
  },
  answerTooManyCalls: {
    wire: -32600,
    retryable: false,
    text: (limit: number) =>
      `The model's answer was stopped: it has more than ${limit} tool calls (model_answer_max_calls in config.toml).`,
  },
  turnTooManyCalls: {
    wire: -32600,
    retryable: false,
    text: (limit: number) =>
      `The turn was stopped: it has more than ${limit} tool calls (turn_max_calls in config.toml). Start another turn to go on.`,
  },
} as const;

export type ErrorCode = keyof typeof catalogue;
type Words<C extends ErrorCode> = Parameters<(typeof catalogue)[C]["text"]>;

/** An error that is meant for the client; anything else thrown becomes `internal` with a log reference. */
export class Fault extends Error {
  readonly code: ErrorCode;
  readonly extra: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, text: string, extra?: Record<string, unknown>) {
    super(text);
    this.code = code;
    this.extra = extra;
  }

  toWire(): { code: number; message: string; data: Record<string, unknown> } {
    const { wire, retryable } = catalogue[this.code];
    return { code: wire, message: this.message, data: { code: this.code, retryable, ...this.extra } };
  }
}

export function fault<C extends ErrorCode>(code: C, ...words: Words<C>): Fault {
  const text = catalogue[code].text as (...words: Words<C>) => string;
  return new Fault(code, text(...words));
}

/** With what clients of this protocol look for, to know that they may say it again later. */
export function notSteerableFault(turnKind: "compact" | "review"): Fault {
  const { code, message } = fault("turnNotSteerable", turnKind);
  return new Fault(code, message, {
    message,
    codexErrorInfo: { activeTurnNotSteerable: { turnKind } },
    additionalDetails: null,
    misalignment: null,
  });
}

/** In words, whatever was thrown. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
