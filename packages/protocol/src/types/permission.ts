import {
  array,
  boolean,
  enumeration,
  filePath,
  integer,
  nullable,
  object,
  omittable,
  optional,
  type Static,
  string,
  tagged,
} from "../schema-language.ts";

export const ActivePermissionProfile = object("ActivePermissionProfile", () => ({
  extends: nullable(string()),
  id: string(),
}));
export type ActivePermissionProfile = Static<typeof ActivePermissionProfile>;

export const AdditionalFileSystemPermissions = object("AdditionalFileSystemPermissions", () => ({
  entries: optional(array(FileSystemSandboxEntry)),
  globScanMaxDepth: optional(integer("uint64")),
  read: optional(array(string())),
  write: optional(array(string())),
}));
export type AdditionalFileSystemPermissions = Static<typeof AdditionalFileSystemPermissions>;

export const AdditionalNetworkPermissions = object("AdditionalNetworkPermissions", () => ({
  enabled: optional(boolean()),
}));
export type AdditionalNetworkPermissions = Static<typeof AdditionalNetworkPermissions>;

export const AdditionalPermissionProfile = object("AdditionalPermissionProfile", () => ({
  fileSystem: nullable(AdditionalFileSystemPermissions),
  network: nullable(AdditionalNetworkPermissions),
}));
export type AdditionalPermissionProfile = Static<typeof AdditionalPermissionProfile>;

export const FileSystemAccessMode = enumeration("FileSystemAccessMode", ["read", "write", "deny"], {
  aliases: { none: "deny" },
});
export type FileSystemAccessMode = Static<typeof FileSystemAccessMode>;

export const FileSystemPath = tagged("FileSystemPath", "type", () => ({
  path: { path: filePath() },
  glob_pattern: { pattern: string() },
  special: { value: FileSystemSpecialPath },
}));
export type FileSystemPath = Static<typeof FileSystemPath>;

export const FileSystemSandboxEntry = object("FileSystemSandboxEntry", () => ({
  access: FileSystemAccessMode,
  path: FileSystemPath,
}));
export type FileSystemSandboxEntry = Static<typeof FileSystemSandboxEntry>;

export const FileSystemSpecialPath = tagged(
  "FileSystemSpecialPath",
  "kind",
  () => ({
    root: {},
    minimal: {},
    project_roots: { subpath: optional(string()) },
    tmpdir: {},
    slash_tmp: {},
    unknown: { path: string(), subpath: optional(string()) },
  }),
  { aliases: { current_working_directory: "project_roots" } },
);
export type FileSystemSpecialPath = Static<typeof FileSystemSpecialPath>;

export const GrantedPermissionProfile = object("GrantedPermissionProfile", () => ({
  fileSystem: optional(AdditionalFileSystemPermissions),
  network: optional(AdditionalNetworkPermissions),
}));
export type GrantedPermissionProfile = Static<typeof GrantedPermissionProfile>;

export const NetworkAccess = enumeration("NetworkAccess", ["restricted", "enabled"]);
export type NetworkAccess = Static<typeof NetworkAccess>;

export const PermissionProfileListParams = object("PermissionProfileListParams", () => ({
  cursor: optional(string()),
  cwd: optional(filePath()),
  limit: optional(integer("uint32")),
}));
export type PermissionProfileListParams = Static<typeof PermissionProfileListParams>;

export const PermissionProfileListResponse = object("PermissionProfileListResponse", () => ({
  data: array(PermissionProfileSummary),
  nextCursor: nullable(string()),
}));
export type PermissionProfileListResponse = Static<typeof PermissionProfileListResponse>;

export const PermissionProfileSummary = object("PermissionProfileSummary", () => ({
  allowed: boolean(),
  description: nullable(string()),
  id: string(),
}));
export type PermissionProfileSummary = Static<typeof PermissionProfileSummary>;

export const RequestPermissionProfile = object("RequestPermissionProfile", () => ({
  fileSystem: nullable(AdditionalFileSystemPermissions),
  network: nullable(AdditionalNetworkPermissions),
}));
export type RequestPermissionProfile = Static<typeof RequestPermissionProfile>;

export const SandboxPolicy = tagged("SandboxPolicy", "type", () => ({
  dangerFullAccess: {},
  readOnly: { networkAccess: omittable(boolean()) },
  externalSandbox: { networkAccess: omittable(NetworkAccess) },
  workspaceWrite: {
    excludeSlashTmp: omittable(boolean()),
    excludeTmpdirEnvVar: omittable(boolean()),
    networkAccess: omittable(boolean()),
    writableRoots: omittable(array(filePath())),
  },
}));
export type SandboxPolicy = Static<typeof SandboxPolicy>;
