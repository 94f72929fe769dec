/**
 * Size limits for the parts of a message. The specification sets few of them, but both sides parse untrusted input.
 * Texts are counted in UTF-16 code units, bodies in bytes. Parts without a limit here are bounded by their body's
 * limit.
 */
export const LIMITS = {
  /** The id of a thread or of a call. */
  id: 1024,
  /** The name of a toolset, a tool or a view. The specification sets this limit for toolsets and tools. */
  name: 128,
  url: 8192,
  description: 16_384,
  tools: 1024,
  ancestors: 256,
  /** The text of a question in which the user chooses an answer. */
  prompt: 16_384,
  choices: 100,
  choice: 1024,
  /** Number of content items of a result, and of its display segments. */
  items: 256,
  mediaType: 128,
  idempotencyKey: 255,
  /** Nesting depth of schemas, and of values that are passed through uninterpreted. */
  depth: 64,

  toolsetBytes: 4 * 1024 * 1024,
  invocationBytes: 4 * 1024 * 1024,
  /** Large, because results may contain images. */
  callbackBytes: 32 * 1024 * 1024,
  /** The body of a thread closing, a cancellation, a migration or an answer to a user choice. */
  noticeBytes: 64 * 1024,
} as const;
