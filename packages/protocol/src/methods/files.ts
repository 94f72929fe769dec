import { method, NONE } from "../table-entry.ts";
import {
  FsCopyParams,
  FsCopyResponse,
  FsCreateDirectoryParams,
  FsCreateDirectoryResponse,
  FsGetMetadataParams,
  FsGetMetadataResponse,
  FsReadDirectoryParams,
  FsReadDirectoryResponse,
  FsReadFileParams,
  FsReadFileResponse,
  FsRemoveParams,
  FsRemoveResponse,
  FsUnwatchParams,
  FsUnwatchResponse,
  FsWatchParams,
  FsWatchResponse,
  FsWriteFileParams,
  FsWriteFileResponse,
} from "../types/fs.ts";
/** File access for clients, independent of threads. */
export const fileMethods = {
  "fs/readFile": method({
    params: FsReadFileParams,
    result: FsReadFileResponse,
    scope: NONE,
    stability: "stable",
  }),
  "fs/writeFile": method({
    params: FsWriteFileParams,
    result: FsWriteFileResponse,
    scope: NONE,
    stability: "stable",
  }),
  "fs/createDirectory": method({
    params: FsCreateDirectoryParams,
    result: FsCreateDirectoryResponse,
    scope: NONE,
    stability: "stable",
  }),
  "fs/getMetadata": method({
    params: FsGetMetadataParams,
    result: FsGetMetadataResponse,
    scope: NONE,
    stability: "stable",
  }),
  "fs/readDirectory": method({
    params: FsReadDirectoryParams,
    result: FsReadDirectoryResponse,
    scope: NONE,
    stability: "stable",
  }),
  "fs/remove": method({
    params: FsRemoveParams,
    result: FsRemoveResponse,
    scope: NONE,
    stability: "stable",
  }),
  "fs/copy": method({
    params: FsCopyParams,
    result: FsCopyResponse,
    scope: NONE,
    stability: "stable",
  }),
  "fs/watch": method({
    params: FsWatchParams,
    result: FsWatchResponse,
    scope: NONE,
    stability: "stable",
  }),
  "fs/unwatch": method({
    params: FsUnwatchParams,
    result: FsUnwatchResponse,
    scope: NONE,
    stability: "stable",
  }),
};
