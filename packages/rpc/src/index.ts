export { Encoded, jsonOf } from "./encoded.ts";
export { Frame } from "./frame.ts";
export { type LineEvents, LineSplitter } from "./lines.ts";
export { type CloseReason, type Link, type LinkEvents, MAX_MESSAGE_BYTES } from "./link.ts";
export { type MemoryLink, memoryPair, type PairOptions } from "./pair.ts";
export { NoAnswerError, Peer, type PeerRequestId, type RequestOptions, RpcError } from "./peer.ts";
