import { array, boolean, enumeration, nullable, object, type Static, string } from "../schema-language.ts";

export const PluginShareContext = object("PluginShareContext", () => ({
  canPublishToWorkspace: nullable(boolean()),
  creatorAccountUserId: nullable(string()),
  creatorName: nullable(string()),
  discoverability: nullable(PluginShareDiscoverability),
  remotePluginId: string(),
  remoteVersion: nullable(string()),
  sharePrincipals: nullable(array(PluginSharePrincipal)),
  shareUrl: nullable(string()),
}));
export type PluginShareContext = Static<typeof PluginShareContext>;

export const PluginShareDiscoverability = enumeration("PluginShareDiscoverability", [
  "LISTED",
  "UNLISTED",
  "PRIVATE",
]);
export type PluginShareDiscoverability = Static<typeof PluginShareDiscoverability>;

export const PluginSharePrincipal = object("PluginSharePrincipal", () => ({
  name: string(),
  principalId: string(),
  principalType: PluginSharePrincipalType,
  role: PluginSharePrincipalRole,
}));
export type PluginSharePrincipal = Static<typeof PluginSharePrincipal>;

export const PluginSharePrincipalRole = enumeration("PluginSharePrincipalRole", [
  "reader",
  "editor",
  "owner",
]);
export type PluginSharePrincipalRole = Static<typeof PluginSharePrincipalRole>;

export const PluginSharePrincipalType = enumeration("PluginSharePrincipalType", [
  "user",
  "group",
  "workspace",
]);
export type PluginSharePrincipalType = Static<typeof PluginSharePrincipalType>;
