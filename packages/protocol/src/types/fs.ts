import {
  array,
  boolean,
  experimental,
  integer,
  object,
  omittable,
  optional,
  type Static,
  string,
} from "../schema-language.ts";

export const FsReadFileParams = object("FsReadFileParams", () => ({
  path: string(),
  /** Refuses a larger file with `fileTooLarge`. */
  maxBytes: experimental.omittable(integer("uint32"), { ours: true }),
}));
export type FsReadFileParams = Static<typeof FsReadFileParams>;

export const FsReadFileResponse = object("FsReadFileResponse", () => ({ dataBase64: string() }));
export type FsReadFileResponse = Static<typeof FsReadFileResponse>;

export const FsWriteFileParams = object("FsWriteFileParams", () => ({
  path: string(),
  dataBase64: string(),
}));
export type FsWriteFileParams = Static<typeof FsWriteFileParams>;

export const FsWriteFileResponse = object("FsWriteFileResponse", () => ({}));
export type FsWriteFileResponse = Static<typeof FsWriteFileResponse>;

export const FsCreateDirectoryParams = object("FsCreateDirectoryParams", () => ({
  path: string(),
  recursive: optional(boolean()),
}));
export type FsCreateDirectoryParams = Static<typeof FsCreateDirectoryParams>;

export const FsCreateDirectoryResponse = object("FsCreateDirectoryResponse", () => ({}));
export type FsCreateDirectoryResponse = Static<typeof FsCreateDirectoryResponse>;

export const FsGetMetadataParams = object("FsGetMetadataParams", () => ({ path: string() }));
export type FsGetMetadataParams = Static<typeof FsGetMetadataParams>;

export const FsGetMetadataResponse = object("FsGetMetadataResponse", () => ({
  isDirectory: boolean(),
  isFile: boolean(),
  isSymlink: boolean(),
  createdAtMs: integer("int64"),
  modifiedAtMs: integer("int64"),
}));
export type FsGetMetadataResponse = Static<typeof FsGetMetadataResponse>;

export const FsReadDirectoryParams = object("FsReadDirectoryParams", () => ({ path: string() }));
export type FsReadDirectoryParams = Static<typeof FsReadDirectoryParams>;

export const FsReadDirectoryEntry = object("FsReadDirectoryEntry", () => ({
  fileName: string(),
  isDirectory: boolean(),
  isFile: boolean(),
}));
export type FsReadDirectoryEntry = Static<typeof FsReadDirectoryEntry>;

export const FsReadDirectoryResponse = object("FsReadDirectoryResponse", () => ({
  entries: array(FsReadDirectoryEntry),
}));
export type FsReadDirectoryResponse = Static<typeof FsReadDirectoryResponse>;

export const FsRemoveParams = object("FsRemoveParams", () => ({
  path: string(),
  recursive: optional(boolean()),
  force: optional(boolean()),
}));
export type FsRemoveParams = Static<typeof FsRemoveParams>;

export const FsRemoveResponse = object("FsRemoveResponse", () => ({}));
export type FsRemoveResponse = Static<typeof FsRemoveResponse>;

export const FsCopyParams = object("FsCopyParams", () => ({
  sourcePath: string(),
  destinationPath: string(),
  recursive: omittable(boolean()),
}));
export type FsCopyParams = Static<typeof FsCopyParams>;

export const FsCopyResponse = object("FsCopyResponse", () => ({}));
export type FsCopyResponse = Static<typeof FsCopyResponse>;

export const FsWatchParams = object("FsWatchParams", () => ({ watchId: string(), path: string() }));
export type FsWatchParams = Static<typeof FsWatchParams>;

export const FsWatchResponse = object("FsWatchResponse", () => ({ path: string() }));
export type FsWatchResponse = Static<typeof FsWatchResponse>;

export const FsUnwatchParams = object("FsUnwatchParams", () => ({ watchId: string() }));
export type FsUnwatchParams = Static<typeof FsUnwatchParams>;

export const FsUnwatchResponse = object("FsUnwatchResponse", () => ({}));
export type FsUnwatchResponse = Static<typeof FsUnwatchResponse>;

export const FsChangedNotification = object("FsChangedNotification", () => ({
  watchId: string(),
  changedPaths: array(string()),
}));
export type FsChangedNotification = Static<typeof FsChangedNotification>;
