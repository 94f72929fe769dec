/** The host's side of the Reactive Agent Protocol (RAP): discovery, invocations, notices and callback paths. */

export { type CallbackSubject, callbackPath, readCallbackPath, type Sign } from "./callback-path.ts";
export { type Discovery, discover, type KnownToolset, readToolset } from "./discovery.ts";
export {
  type Answer,
  exchange,
  type Outgoing,
  type RuntimePorts,
  readAnswer,
  type Send,
} from "./http-exchange.ts";
export { type Acceptance, invoke, post } from "./invoke.ts";
export { type MigratingServer, type Moved, moveSession, type SessionMove } from "./move-session.ts";
export { type Notice, sendNotice } from "./send-notice.ts";
export { isOwnUrl, isUnencrypted, type ServerAddress } from "./server-address.ts";
