import {
  array,
  boolean,
  enumeration,
  inline,
  integer,
  nullable,
  object,
  optional,
  record,
  type Static,
  string,
  union,
  unknown,
} from "../schema-language.ts";

export const ListMcpServerStatusParams = object("ListMcpServerStatusParams", () => ({
  cursor: optional(string()),
  detail: optional(McpServerStatusDetail),
  limit: optional(integer("uint32")),
  serverName: optional(string()),
  threadId: optional(string()),
}));
export type ListMcpServerStatusParams = Static<typeof ListMcpServerStatusParams>;

export const ListMcpServerStatusResponse = object("ListMcpServerStatusResponse", () => ({
  data: array(McpServerStatus),
  nextCursor: nullable(string()),
}));
export type ListMcpServerStatusResponse = Static<typeof ListMcpServerStatusResponse>;

export const McpAuthStatus = enumeration("McpAuthStatus", [
  "unknown",
  "unsupported",
  "notLoggedIn",
  "bearerToken",
  "oAuth",
]);
export type McpAuthStatus = Static<typeof McpAuthStatus>;

export const McpResourceReadParams = object("McpResourceReadParams", () => ({
  _meta: optional(record(unknown())),
  connectorId: optional(string()),
  originCallId: optional(string()),
  server: string(),
  target: optional(McpResourceReadTarget),
  threadId: optional(string()),
  uri: string(),
}));
export type McpResourceReadParams = Static<typeof McpResourceReadParams>;

export const McpResourceReadResponse = object("McpResourceReadResponse", () => ({
  contents: array(ResourceContent),
  originCallId: optional(string()),
}));
export type McpResourceReadResponse = Static<typeof McpResourceReadResponse>;

export const McpResourceReadTarget = object("McpResourceReadTarget", () => ({
  connectorId: string(),
  linkId: nullable(string()),
}));
export type McpResourceReadTarget = Static<typeof McpResourceReadTarget>;

export const McpServerConnectionStatus = enumeration("McpServerConnectionStatus", [
  "notStarted",
  "starting",
  "connected",
  "authenticationRequired",
  "failed",
  "cancelled",
  "disabled",
]);
export type McpServerConnectionStatus = Static<typeof McpServerConnectionStatus>;

export const McpServerInfo = object("McpServerInfo", () => ({
  description: nullable(string()),
  icons: nullable(array(unknown())),
  name: string(),
  title: nullable(string()),
  version: string(),
  websiteUrl: nullable(string()),
}));
export type McpServerInfo = Static<typeof McpServerInfo>;

export const McpServerOauthClientRegistration = enumeration("McpServerOauthClientRegistration", [
  "auto",
  "cimd",
  "dcr",
]);
export type McpServerOauthClientRegistration = Static<typeof McpServerOauthClientRegistration>;

export const McpServerOauthLoginCompletedNotification = object(
  "McpServerOauthLoginCompletedNotification",
  () => ({
    error: optional(string()),
    loginId: nullable(string()),
    name: string(),
    success: boolean(),
    threadId: nullable(string()),
  }),
);
export type McpServerOauthLoginCompletedNotification = Static<
  typeof McpServerOauthLoginCompletedNotification
>;

export const McpServerOauthLoginParams = object("McpServerOauthLoginParams", () => ({
  clientRegistration: optional(McpServerOauthClientRegistration),
  name: string(),
  scopes: optional(array(string())),
  threadId: optional(string()),
  timeoutSecs: optional(integer("int64")),
}));
export type McpServerOauthLoginParams = Static<typeof McpServerOauthLoginParams>;

export const McpServerOauthLoginResponse = object("McpServerOauthLoginResponse", () => ({
  authorizationUrl: string(),
  loginId: nullable(string()),
}));
export type McpServerOauthLoginResponse = Static<typeof McpServerOauthLoginResponse>;

export const McpServerRefreshResponse = object("McpServerRefreshResponse", () => ({}));
export type McpServerRefreshResponse = Static<typeof McpServerRefreshResponse>;

export const McpServerStartupFailureReason = enumeration("McpServerStartupFailureReason", [
  "reauthenticationRequired",
]);
export type McpServerStartupFailureReason = Static<typeof McpServerStartupFailureReason>;

export const McpServerStartupState = enumeration("McpServerStartupState", [
  "starting",
  "ready",
  "failed",
  "cancelled",
]);
export type McpServerStartupState = Static<typeof McpServerStartupState>;

export const McpServerStatus = object("McpServerStatus", () => ({
  authStatus: McpAuthStatus,
  httpOrigin: nullable(string()),
  name: string(),
  pluginId: nullable(string()),
  resourceTemplates: array(ResourceTemplate),
  resources: array(Resource),
  runtimeStatus: nullable(McpServerConnectionStatus),
  serverCapabilities: unknown(),
  serverInfo: nullable(McpServerInfo),
  toolListMeta: unknown(),
  tools: record(Tool),
  toolsError: nullable(string()),
}));
export type McpServerStatus = Static<typeof McpServerStatus>;

export const McpServerStatusDetail = enumeration("McpServerStatusDetail", ["full", "toolsAndAuthOnly"]);
export type McpServerStatusDetail = Static<typeof McpServerStatusDetail>;

export const McpServerStatusUpdatedNotification = object("McpServerStatusUpdatedNotification", () => ({
  error: nullable(string()),
  failureReason: nullable(McpServerStartupFailureReason),
  name: string(),
  status: McpServerStartupState,
  threadId: nullable(string()),
}));
export type McpServerStatusUpdatedNotification = Static<typeof McpServerStatusUpdatedNotification>;

export const McpServerToolCallParams = object("McpServerToolCallParams", () => ({
  _meta: optional(unknown()),
  arguments: optional(unknown()),
  server: string(),
  threadId: string(),
  tool: string(),
}));
export type McpServerToolCallParams = Static<typeof McpServerToolCallParams>;

export const McpServerToolCallResponse = object("McpServerToolCallResponse", () => ({
  _meta: optional(unknown()),
  content: array(unknown()),
  isError: optional(boolean()),
  structuredContent: optional(unknown()),
}));
export type McpServerToolCallResponse = Static<typeof McpServerToolCallResponse>;

export const Resource = object("Resource", () => ({
  _meta: optional(unknown()),
  annotations: optional(unknown()),
  description: optional(string()),
  icons: optional(array(unknown())),
  mimeType: optional(string()),
  name: string(),
  size: optional(integer()),
  title: optional(string()),
  uri: string(),
}));
export type Resource = Static<typeof Resource>;

export const ResourceContent = union("ResourceContent", () => [
  inline(() => ({
    _meta: optional(unknown()),
    mimeType: optional(string()),
    text: string(),
    uri: string(),
  })),
  inline(() => ({
    _meta: optional(unknown()),
    blob: string(),
    mimeType: optional(string()),
    uri: string(),
  })),
]);
export type ResourceContent = Static<typeof ResourceContent>;

export const ResourceTemplate = object("ResourceTemplate", () => ({
  annotations: optional(unknown()),
  description: optional(string()),
  mimeType: optional(string()),
  name: string(),
  title: optional(string()),
  uriTemplate: string(),
}));
export type ResourceTemplate = Static<typeof ResourceTemplate>;

export const Tool = object("Tool", () => ({
  _meta: optional(unknown()),
  annotations: optional(unknown()),
  description: optional(string()),
  icons: optional(array(unknown())),
  inputSchema: unknown(),
  name: string(),
  outputSchema: optional(unknown()),
  title: optional(string()),
}));
export type Tool = Static<typeof Tool>;
