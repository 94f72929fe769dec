/** Errors of turns: input, queue, reviews, environments, limits on answers. */
export const TURN_ERRORS = {
  unknownEnvironment: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `unknown turn environment id \`${id}\``,
  },
  environmentsFixed: {
    wire: -32600,
    retryable: false,
    text: () =>
      "the environments of a running turn cannot be changed; use thread/settings/update for later turns",
  },
  environmentNotFound: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `unknown environment id \`${id}\``,
  },
  onlyLocalEnvironment: {
    wire: -32600,
    retryable: false,
    text: (id: string) =>
      `cannot add environment \`${id}\`: this host has only the environment \`local\`, and takes no remote ones`,
  },
  tooManyItemIds: { wire: -32600, retryable: false, text: () => "itemIds must contain 1 to 100 IDs" },
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
  turnNotFound: { wire: -32600, retryable: false, text: (id: string) => `turn not found: ${id}` },
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
  planEmpty: { wire: -32600, retryable: false, text: () => "The approved plan is empty." },
  planPathRelative: {
    wire: -32602,
    retryable: false,
    text: () => "`attachmentPath` must be absolute on the app server",
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
  emptyModel: { wire: -32600, retryable: false, text: () => "model must not be empty" },
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
  badDynamicTools: { wire: -32600, retryable: false, text: (why: string) => why },
  // The errors below end a turn: they are the `code` of the turn's error.
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
