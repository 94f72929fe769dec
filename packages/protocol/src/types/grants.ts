import { array, enumeration, integer, nullable, object, type Static, string } from "../schema-language.ts";

export const ThreadGrantKind = enumeration("ThreadGrantKind", [
  "command",
  "stdin",
  "patch",
  "permissions",
  "network",
  "tool",
  "other",
]);
export type ThreadGrantKind = Static<typeof ThreadGrantKind>;

export const ThreadGrant = object("ThreadGrant", () => ({
  id: string(),
  kind: ThreadGrantKind,
  description: string(),
  scope: enumeration("ThreadGrantScope", ["turn", "session"]),
  grantedAtMs: nullable(integer("int64")),
}));
export type ThreadGrant = Static<typeof ThreadGrant>;

export const ThreadGrantsListParams = object("ThreadGrantsListParams", () => ({ threadId: string() }));
export type ThreadGrantsListParams = Static<typeof ThreadGrantsListParams>;

export const ThreadGrantsListResponse = object("ThreadGrantsListResponse", () => ({
  data: array(ThreadGrant),
}));
export type ThreadGrantsListResponse = Static<typeof ThreadGrantsListResponse>;

export const ThreadGrantsRevokeParams = object("ThreadGrantsRevokeParams", () => ({
  threadId: string(),
  grantId: string(),
}));
export type ThreadGrantsRevokeParams = Static<typeof ThreadGrantsRevokeParams>;

export const ThreadGrantsRevokeResponse = object("ThreadGrantsRevokeResponse", () => ({}));
export type ThreadGrantsRevokeResponse = Static<typeof ThreadGrantsRevokeResponse>;

export const ThreadGrantRevokedNotification = object("ThreadGrantRevokedNotification", () => ({
  threadId: string(),
  grantId: string(),
}));
export type ThreadGrantRevokedNotification = Static<typeof ThreadGrantRevokedNotification>;
