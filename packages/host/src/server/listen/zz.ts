import { listenWebSocket } from "./websocket.ts";
const accept = () => ({ message() {}, oversized() {}, undecodable() {}, drained() {}, closed() {} });
const site = { version: "0.1.0", metrics: async () => "", status: () => [["Up since", "12 min"], ["Connections", "3"], ["Threads loaded", "7"], ["Model", "offline"]] as const };
await listenWebSocket({ accept, host: "127.0.0.1", port: 45991, site });
await listenWebSocket({ accept, host: "127.0.0.1", port: 45992, site, authenticate: () => ({ principal: { kind: "token" } }) });
