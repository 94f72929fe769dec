import {
  array,
  boolean,
  nullable,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
} from "../schema.ts";

export const FeedbackUploadParams = object("FeedbackUploadParams", () => ({
  classification: string(),
  extraLogFiles: optional(array(string())),
  includeLogs: omittable(boolean()),
  reason: optional(string()),
  tags: optional(record(string())),
  threadId: optional(string()),
}));
export type FeedbackUploadParams = Static<typeof FeedbackUploadParams>;

export const FeedbackUploadResponse = object("FeedbackUploadResponse", () => ({
  promptHash: nullable(string()),
  threadId: string(),
}));
export type FeedbackUploadResponse = Static<typeof FeedbackUploadResponse>;
