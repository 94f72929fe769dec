import { array, enumeration, integer, object, optional, type Static, string } from "../schema-language.ts";

export const FuzzyFileSearchMatchType = enumeration("FuzzyFileSearchMatchType", ["file", "directory"]);
export type FuzzyFileSearchMatchType = Static<typeof FuzzyFileSearchMatchType>;

export const FuzzyFileSearchResult = object("FuzzyFileSearchResult", () => ({
  root: string(),
  path: string(),
  match_type: FuzzyFileSearchMatchType,
  file_name: string(),
  score: integer("uint32"),
  indices: optional(array(integer("uint32"))),
}));
export type FuzzyFileSearchResult = Static<typeof FuzzyFileSearchResult>;

export const FuzzyFileSearchParams = object("FuzzyFileSearchParams", () => ({
  query: string(),
  roots: array(string()),
  cancellationToken: optional(string()),
}));
export type FuzzyFileSearchParams = Static<typeof FuzzyFileSearchParams>;

export const FuzzyFileSearchResponse = object("FuzzyFileSearchResponse", () => ({
  files: array(FuzzyFileSearchResult),
}));
export type FuzzyFileSearchResponse = Static<typeof FuzzyFileSearchResponse>;

export const FuzzyFileSearchSessionStartParams = object("FuzzyFileSearchSessionStartParams", () => ({
  sessionId: string(),
  roots: array(string()),
}));
export type FuzzyFileSearchSessionStartParams = Static<typeof FuzzyFileSearchSessionStartParams>;

export const FuzzyFileSearchSessionStartResponse = object("FuzzyFileSearchSessionStartResponse", () => ({}));
export type FuzzyFileSearchSessionStartResponse = Static<typeof FuzzyFileSearchSessionStartResponse>;

export const FuzzyFileSearchSessionUpdateParams = object("FuzzyFileSearchSessionUpdateParams", () => ({
  sessionId: string(),
  query: string(),
}));
export type FuzzyFileSearchSessionUpdateParams = Static<typeof FuzzyFileSearchSessionUpdateParams>;

export const FuzzyFileSearchSessionUpdateResponse = object(
  "FuzzyFileSearchSessionUpdateResponse",
  () => ({}),
);
export type FuzzyFileSearchSessionUpdateResponse = Static<typeof FuzzyFileSearchSessionUpdateResponse>;

export const FuzzyFileSearchSessionStopParams = object("FuzzyFileSearchSessionStopParams", () => ({
  sessionId: string(),
}));
export type FuzzyFileSearchSessionStopParams = Static<typeof FuzzyFileSearchSessionStopParams>;

export const FuzzyFileSearchSessionStopResponse = object("FuzzyFileSearchSessionStopResponse", () => ({}));
export type FuzzyFileSearchSessionStopResponse = Static<typeof FuzzyFileSearchSessionStopResponse>;

export const FuzzyFileSearchSessionUpdatedNotification = object(
  "FuzzyFileSearchSessionUpdatedNotification",
  () => ({
    sessionId: string(),
    query: string(),
    files: array(FuzzyFileSearchResult),
  }),
);
export type FuzzyFileSearchSessionUpdatedNotification = Static<
  typeof FuzzyFileSearchSessionUpdatedNotification
>;

export const FuzzyFileSearchSessionCompletedNotification = object(
  "FuzzyFileSearchSessionCompletedNotification",
  () => ({ sessionId: string() }),
);
export type FuzzyFileSearchSessionCompletedNotification = Static<
  typeof FuzzyFileSearchSessionCompletedNotification
>;
