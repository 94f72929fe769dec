import {
  array,
  boolean,
  experimental,
  filePath,
  nullable,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
} from "../schema-language.ts";

export const FeedbackUploadParams = object("FeedbackUploadParams", () => ({
  classification: string(),
  extraLogFiles: optional(array(filePath())),
  includeLogs: omittable(boolean()),
  reason: optional(string()),
  tags: optional(record(string())),
  threadId: optional(string()),
}));
export type FeedbackUploadParams = Static<typeof FeedbackUploadParams>;

export const FeedbackUploadResponse = object("FeedbackUploadResponse", () => ({
  promptHash: nullable(string()),
  /** Path of the saved report on the host's machine. */
  savedPath: experimental.omittable(string(), { ours: true }),
  /** URL to which the report was sent; absent if it was not sent. */
  sentTo: experimental.omittable(string(), { ours: true }),
  threadId: string(),
}));
export type FeedbackUploadResponse = Static<typeof FeedbackUploadResponse>;

export const FeedbackSaveParams = object("FeedbackSaveParams", () => ({
  classification: string(),
  extraLogFiles: optional(array(filePath())),
  includeLogs: omittable(boolean()),
  reason: optional(string()),
  savePath: filePath(),
  tags: optional(record(string())),
  threadId: optional(string()),
}));
export type FeedbackSaveParams = Static<typeof FeedbackSaveParams>;

export const FeedbackSaveResponse = object("FeedbackSaveResponse", () => ({
  promptHash: nullable(string()),
  savedPath: string(),
  threadId: string(),
}));
export type FeedbackSaveResponse = Static<typeof FeedbackSaveResponse>;
