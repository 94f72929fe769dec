// The JSON-RPC frames of all messages. As in the Codex CLI, the member `jsonrpc` is omitted.
import { integer, object, optional, type Static, string, union, unknown } from "../schema-language.ts";

export const RequestId = union("RequestId", () => [string(), integer()]);
export type RequestId = Static<typeof RequestId>;

export const JSONRPCRequest = object("JSONRPCRequest", () => ({
  id: RequestId,
  method: string(),
  params: optional(unknown()),
  trace: optional(unknown()),
}));
export type JSONRPCRequest = Static<typeof JSONRPCRequest>;

export const JSONRPCNotification = object("JSONRPCNotification", () => ({
  method: string(),
  params: optional(unknown()),
}));
export type JSONRPCNotification = Static<typeof JSONRPCNotification>;

export const JSONRPCResponse = object("JSONRPCResponse", () => ({ id: RequestId, result: unknown() }));
export type JSONRPCResponse = Static<typeof JSONRPCResponse>;

export const JSONRPCErrorError = object("JSONRPCErrorError", () => ({
  code: integer(),
  message: string(),
  data: optional(unknown()),
}));
export type JSONRPCErrorError = Static<typeof JSONRPCErrorError>;

export const JSONRPCError = object("JSONRPCError", () => ({ error: JSONRPCErrorError, id: RequestId }));
export type JSONRPCError = Static<typeof JSONRPCError>;

export const JSONRPCMessage = union("JSONRPCMessage", () => [
  JSONRPCRequest,
  JSONRPCNotification,
  JSONRPCResponse,
  JSONRPCError,
]);
export type JSONRPCMessage = Static<typeof JSONRPCMessage>;
