import {
  array,
  enumeration,
  integer,
  nullable,
  object,
  optional,
  type Static,
  string,
} from "../schema-language.ts";

export const EnvironmentSkillsParams = object("EnvironmentSkillsParams", () => ({
  required: optional(array(string())),
}));
export type EnvironmentSkillsParams = Static<typeof EnvironmentSkillsParams>;

export const ThreadEnvironment = object("ThreadEnvironment", () => ({
  cwd: string(),
  environmentId: string(),
  runtimeWorkspaceRoots: array(string()),
}));
export type ThreadEnvironment = Static<typeof ThreadEnvironment>;

export const EnvironmentAddParams = object("EnvironmentAddParams", () => ({
  authBearerToken: optional(string()),
  connectTimeoutMs: optional(integer("uint64")),
  environmentId: string(),
  execServerUrl: string(),
  skills: optional(EnvironmentSkillsParams),
  websocketRequestId: optional(string()),
}));
export type EnvironmentAddParams = Static<typeof EnvironmentAddParams>;

export const EnvironmentAddResponse = object("EnvironmentAddResponse", () => ({}));
export type EnvironmentAddResponse = Static<typeof EnvironmentAddResponse>;

export const EnvironmentShellInfo = object("EnvironmentShellInfo", () => ({
  name: string(),
  path: string(),
}));
export type EnvironmentShellInfo = Static<typeof EnvironmentShellInfo>;

export const EnvironmentInfoParams = object("EnvironmentInfoParams", () => ({ environmentId: string() }));
export type EnvironmentInfoParams = Static<typeof EnvironmentInfoParams>;

export const EnvironmentInfoResponse = object("EnvironmentInfoResponse", () => ({
  /** A `file:` URI. */
  cwd: nullable(string()),
  shell: EnvironmentShellInfo,
}));
export type EnvironmentInfoResponse = Static<typeof EnvironmentInfoResponse>;

export const EnvironmentStatusKind = enumeration("EnvironmentStatusKind", [
  "ready",
  "pending",
  "disconnected",
  "unknown",
]);
export type EnvironmentStatusKind = Static<typeof EnvironmentStatusKind>;

export const EnvironmentStatusParams = object("EnvironmentStatusParams", () => ({ environmentId: string() }));
export type EnvironmentStatusParams = Static<typeof EnvironmentStatusParams>;

export const EnvironmentStatusResponse = object("EnvironmentStatusResponse", () => ({
  error: optional(string()),
  status: EnvironmentStatusKind,
}));
export type EnvironmentStatusResponse = Static<typeof EnvironmentStatusResponse>;
