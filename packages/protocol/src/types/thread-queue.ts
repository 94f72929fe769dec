import {
  array,
  boolean,
  experimental,
  integer,
  nullable,
  object,
  optional,
  record,
  type Static,
  string,
} from "../schema-language.ts";
import { cursor } from "./cursor.ts";
import { Turn } from "./turn.ts";
import { UserInput } from "./turn-input.ts";

export const QueuedSubmission = object("QueuedSubmission", () => ({
  clientUserMessageId: string(),
  id: string(),
  input: array(UserInput),
  responsesapiClientMetadata: optional(record(string())),
}));
export type QueuedSubmission = Static<typeof QueuedSubmission>;

export const ThreadQueueAddParams = object("ThreadQueueAddParams", () => ({
  clientUserMessageId: string(),
  input: array(UserInput),
  responsesapiClientMetadata: experimental(record(string())),
  threadId: string(),
}));
export type ThreadQueueAddParams = Static<typeof ThreadQueueAddParams>;

export const ThreadQueueAddResponse = object("ThreadQueueAddResponse", () => ({
  queuedSubmission: QueuedSubmission,
}));
export type ThreadQueueAddResponse = Static<typeof ThreadQueueAddResponse>;

export const ThreadQueueChangedNotification = object("ThreadQueueChangedNotification", () => ({
  threadId: string(),
  ...cursor(),
}));
export type ThreadQueueChangedNotification = Static<typeof ThreadQueueChangedNotification>;

export const ThreadQueueDeleteParams = object("ThreadQueueDeleteParams", () => ({
  queuedSubmissionId: string(),
  threadId: string(),
}));
export type ThreadQueueDeleteParams = Static<typeof ThreadQueueDeleteParams>;

export const ThreadQueueDeleteResponse = object("ThreadQueueDeleteResponse", () => ({ deleted: boolean() }));
export type ThreadQueueDeleteResponse = Static<typeof ThreadQueueDeleteResponse>;

export const ThreadQueueListParams = object("ThreadQueueListParams", () => ({
  cursor: optional(string()),
  limit: optional(integer("uint32")),
  threadId: string(),
}));
export type ThreadQueueListParams = Static<typeof ThreadQueueListParams>;

export const ThreadQueueListResponse = object("ThreadQueueListResponse", () => ({
  data: array(QueuedSubmission),
  nextCursor: nullable(string()),
}));
export type ThreadQueueListResponse = Static<typeof ThreadQueueListResponse>;

export const ThreadQueueReorderParams = object("ThreadQueueReorderParams", () => ({
  queuedSubmissionIds: array(string()),
  threadId: string(),
}));
export type ThreadQueueReorderParams = Static<typeof ThreadQueueReorderParams>;

export const ThreadQueueReorderResponse = object("ThreadQueueReorderResponse", () => ({}));
export type ThreadQueueReorderResponse = Static<typeof ThreadQueueReorderResponse>;

export const ThreadQueueStartParams = object("ThreadQueueStartParams", () => ({
  queuedSubmissionId: optional(string()),
  threadId: string(),
}));
export type ThreadQueueStartParams = Static<typeof ThreadQueueStartParams>;

export const ThreadQueueStartResponse = object("ThreadQueueStartResponse", () => ({ turn: Turn }));
export type ThreadQueueStartResponse = Static<typeof ThreadQueueStartResponse>;

export const ThreadQueueUpdateParams = object("ThreadQueueUpdateParams", () => ({
  input: array(UserInput),
  queuedSubmissionId: string(),
  responsesapiClientMetadata: experimental(record(string())),
  threadId: string(),
}));
export type ThreadQueueUpdateParams = Static<typeof ThreadQueueUpdateParams>;

export const ThreadQueueUpdateResponse = object("ThreadQueueUpdateResponse", () => ({
  queuedSubmission: QueuedSubmission,
}));
export type ThreadQueueUpdateResponse = Static<typeof ThreadQueueUpdateResponse>;
