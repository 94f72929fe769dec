import {
  array,
  boolean,
  experimental,
  integer,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
  unknown,
} from "../schema-language.ts";

export const ClientInfo = object("ClientInfo", () => ({
  name: string(),
  title: optional(string()),
  version: string(),
}));
export type ClientInfo = Static<typeof ClientInfo>;

export const InitializeCapabilities = object("InitializeCapabilities", () => ({
  experimentalApi: omittable(boolean()),
  explicitGatewayOauth: omittable(boolean()),
  extensions: optional(record(unknown())),
  mcpServerOpenaiFormElicitation: omittable(boolean()),
  optOutNotificationMethods: optional(array(string())),
  requestAttestation: omittable(boolean()),
  requiredHumanApproval: omittable(boolean()),
  eventCursor: experimental(boolean(), { ours: true, gated: false }),
  threadUnloadDelaySecs: experimental(integer("uint32"), { ours: true, gated: false }),
}));
export type InitializeCapabilities = Static<typeof InitializeCapabilities>;

export const InitializeParams = object("InitializeParams", () => ({
  capabilities: optional(InitializeCapabilities),
  clientInfo: ClientInfo,
}));
export type InitializeParams = Static<typeof InitializeParams>;

export const InitializeResponse = object("InitializeResponse", () => ({
  codexHome: string(),
  platformFamily: string(),
  platformOs: string(),
  userAgent: string(),
}));
export type InitializeResponse = Static<typeof InitializeResponse>;

export const RequestHeader = object("RequestHeader", () => ({ name: string(), value: string() }));
export type RequestHeader = Static<typeof RequestHeader>;
