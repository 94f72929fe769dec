export { Encoded, jsonOf } from "./encoded-json.ts";
export { NoAnswerError, Peer, type PeerRequestId, type RequestOptions, RpcError } from "./json-rpc-peer.ts";
export { type LineEvents, LineSplitter } from "./line-splitter.ts";
export { type CloseReason, type Link, type LinkEvents, MAX_MESSAGE_BYTES } from "./link.ts";
export { type MemoryLink, memoryPair, type PairOptions } from "./memory-pair.ts";
export { Frame } from "./outgoing-frame.ts";
