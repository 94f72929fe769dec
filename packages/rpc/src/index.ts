export { Frame } from "./frame.ts";
export { type CloseReason, type Link, type LinkEvents, MAX_MESSAGE_BYTES } from "./link.ts";
