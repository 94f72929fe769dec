import {
  array,
  boolean,
  enumeration,
  filePath,
  nullable,
  object,
  omittable,
  optional,
  type Static,
  string,
} from "../schema-language.ts";

export const SkillDependencies = object("SkillDependencies", () => ({ tools: array(SkillToolDependency) }));
export type SkillDependencies = Static<typeof SkillDependencies>;

export const SkillErrorInfo = object("SkillErrorInfo", () => ({ message: string(), path: string() }));
export type SkillErrorInfo = Static<typeof SkillErrorInfo>;

export const SkillInterface = object("SkillInterface", () => ({
  brandColor: optional(string()),
  defaultPrompt: optional(string()),
  displayName: optional(string()),
  iconLarge: optional(string()),
  iconLargeUrl: nullable(string()),
  iconSmall: optional(string()),
  iconSmallUrl: nullable(string()),
  shortDescription: optional(string()),
}));
export type SkillInterface = Static<typeof SkillInterface>;

export const SkillMetadata = object("SkillMetadata", () => ({
  dependencies: optional(SkillDependencies),
  description: string(),
  enabled: boolean(),
  interface: optional(SkillInterface),
  name: string(),
  path: string(),
  pluginId: nullable(string()),
  scope: SkillScope,
  shortDescription: optional(string()),
}));
export type SkillMetadata = Static<typeof SkillMetadata>;

export const SkillScope = enumeration("SkillScope", ["user", "repo", "system", "admin"]);
export type SkillScope = Static<typeof SkillScope>;

export const SkillToolDependency = object("SkillToolDependency", () => ({
  command: optional(string()),
  description: optional(string()),
  transport: optional(string()),
  type: string(),
  url: optional(string()),
  value: string(),
}));
export type SkillToolDependency = Static<typeof SkillToolDependency>;

export const SkillsChangedNotification = object("SkillsChangedNotification", () => ({}));
export type SkillsChangedNotification = Static<typeof SkillsChangedNotification>;

export const SkillsListEntry = object("SkillsListEntry", () => ({
  cwd: string(),
  errors: array(SkillErrorInfo),
  skills: array(SkillMetadata),
}));
export type SkillsListEntry = Static<typeof SkillsListEntry>;

export const SkillsListParams = object("SkillsListParams", () => ({
  cwds: omittable(array(filePath())),
  forceReload: omittable(boolean()),
}));
export type SkillsListParams = Static<typeof SkillsListParams>;

export const SkillsListResponse = object("SkillsListResponse", () => ({ data: array(SkillsListEntry) }));
export type SkillsListResponse = Static<typeof SkillsListResponse>;

export const SkillsConfigWriteParams = object("SkillsConfigWriteParams", () => ({
  enabled: boolean(),
  name: optional(string()),
  path: optional(filePath()),
}));
export type SkillsConfigWriteParams = Static<typeof SkillsConfigWriteParams>;

export const SkillsConfigWriteResponse = object("SkillsConfigWriteResponse", () => ({
  effectiveEnabled: boolean(),
}));
export type SkillsConfigWriteResponse = Static<typeof SkillsConfigWriteResponse>;

export const SkillsExtraRootsSetParams = object("SkillsExtraRootsSetParams", () => ({
  extraRoots: array(filePath()),
}));
export type SkillsExtraRootsSetParams = Static<typeof SkillsExtraRootsSetParams>;

export const SkillsExtraRootsSetResponse = object("SkillsExtraRootsSetResponse", () => ({}));
export type SkillsExtraRootsSetResponse = Static<typeof SkillsExtraRootsSetResponse>;
