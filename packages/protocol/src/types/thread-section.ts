import { array, integer, nullable, object, optional, type Static, string } from "../schema-language.ts";

export const ThreadSection = object("ThreadSection", () => ({
  appearance: nullable(ThreadSectionAppearance),
  id: string(),
  name: string(),
}));
export type ThreadSection = Static<typeof ThreadSection>;

export const ThreadSectionAppearance = object("ThreadSectionAppearance", () => ({
  color: optional(string()),
  icon: optional(string()),
}));
export type ThreadSectionAppearance = Static<typeof ThreadSectionAppearance>;

/** The section was created, changed or deleted: a client that shows sections lists them again. */
export const SectionListChangedNotification = object("SectionListChangedNotification", () => ({
  sectionId: string(),
}));
export type SectionListChangedNotification = Static<typeof SectionListChangedNotification>;

export const ThreadSectionCreateParams = object("ThreadSectionCreateParams", () => ({
  appearance: optional(ThreadSectionAppearance),
  name: string(),
}));
export type ThreadSectionCreateParams = Static<typeof ThreadSectionCreateParams>;

export const ThreadSectionCreateResponse = object("ThreadSectionCreateResponse", () => ({
  section: ThreadSection,
}));
export type ThreadSectionCreateResponse = Static<typeof ThreadSectionCreateResponse>;

export const ThreadSectionDeleteParams = object("ThreadSectionDeleteParams", () => ({ sectionId: string() }));
export type ThreadSectionDeleteParams = Static<typeof ThreadSectionDeleteParams>;

export const ThreadSectionDeleteResponse = object("ThreadSectionDeleteResponse", () => ({}));
export type ThreadSectionDeleteResponse = Static<typeof ThreadSectionDeleteResponse>;

export const ThreadSectionListParams = object("ThreadSectionListParams", () => ({
  cursor: optional(string()),
  limit: optional(integer("uint32")),
}));
export type ThreadSectionListParams = Static<typeof ThreadSectionListParams>;

export const ThreadSectionListResponse = object("ThreadSectionListResponse", () => ({
  data: array(ThreadSection),
  nextCursor: nullable(string()),
}));
export type ThreadSectionListResponse = Static<typeof ThreadSectionListResponse>;

export const ThreadSectionMoveParams = object("ThreadSectionMoveParams", () => ({
  beforeThreadId: optional(string()),
  sectionId: nullable(string()),
  threadId: string(),
}));
export type ThreadSectionMoveParams = Static<typeof ThreadSectionMoveParams>;

export const ThreadSectionMoveResponse = object("ThreadSectionMoveResponse", () => ({}));
export type ThreadSectionMoveResponse = Static<typeof ThreadSectionMoveResponse>;

export const ThreadSectionUpdateParams = object("ThreadSectionUpdateParams", () => ({
  appearance: optional(ThreadSectionAppearance),
  name: string(),
  sectionId: string(),
}));
export type ThreadSectionUpdateParams = Static<typeof ThreadSectionUpdateParams>;

export const ThreadSectionUpdateResponse = object("ThreadSectionUpdateResponse", () => ({
  section: ThreadSection,
}));
export type ThreadSectionUpdateResponse = Static<typeof ThreadSectionUpdateResponse>;
