/**
 * How large parts of a message may be. The specification has no bounds for most of them, but both sides read what
 * strangers wrote. Texts are counted in UTF-16 units; bodies, which hold everything else in bounds, in bytes.
 */
export const LIMITS = {
  /** An id of a thread or of a call. */
  id: 1024,
  /** The name of a toolset, of a tool, of a view. The first two are the specification's. */
  name: 128,
  url: 8192,
  description: 16_384,
  tools: 1024,
  ancestors: 256,
  /** What is asked of a user. */
  prompt: 16_384,
  choices: 100,
  choice: 1024,
  /** Items of a result, and segments of its display. */
  items: 256,
  mediaType: 128,
  idempotencyKey: 255,
  /** How deep objects and arrays may stand in each other in what we do not interpret. */
  depth: 64,

  toolsetBytes: 4 * 1024 * 1024,
  invocationBytes: 4 * 1024 * 1024,
  /** Results have images in them. */
  callbackBytes: 32 * 1024 * 1024,
  /** A closing, a cancellation, a migration, an answer to a choice. */
  noticeBytes: 64 * 1024,
} as const;
