export { NoAnswerError, type RequestOptions, RpcError } from "@bobbin/rpc";
export { BobbinClient, type ServerRequestContext } from "./client.ts";
export { type AttachableLink, overLink } from "./over-link.ts";
export type { Notification, TurnOptions } from "./turn.ts";
export {
  connectWebSocket,
  type WebSocketConstructor,
  type WebSocketLike,
  type WebSocketOptions,
} from "./web-socket.ts";
export type { Wire, WireEvents } from "./wire.ts";
