/** The host's side of the Reactive Agent Protocol, over a `fetch` that it is given. */
export { isOpenLine, isOwn, type ServerAddress } from "./address.ts";
export { type CallbackSubject, callbackPath, readCallbackPath, type Sign } from "./callback-token.ts";
export { type Discovery, discover, type KnownToolset, readToolset } from "./discovery.ts";
export { type Answer, exchange, type Outgoing, type RuntimePorts, readAnswer, type Send } from "./http.ts";
export { type Acceptance, invoke, post } from "./invoke.ts";
export { type MigratingServer, type Moved, moveSession, type SessionMove } from "./migrate.ts";
export { type Notice, sendNotice } from "./notice.ts";
