import type { IncomingMessage } from "node:http";

/** The WebSocket subprotocol that pages offer and the host accepts. */
const PROTOCOL = "bobbin.v1";
const TICKET = "ticket.";

/**
 * The ticket among the subprotocols that a page offers. A page can send no other text of its own when it opens a
 * WebSocket.
 */
export function offeredTicket({ headers }: IncomingMessage): string | undefined {
  const offered = headers["sec-websocket-protocol"]?.split(",").map((one) => one.trim()) ?? [];
  return offered.find((one) => one.startsWith(TICKET))?.slice(TICKET.length);
}

/** The accepted subprotocol. Never the ticket, because the response is not secret. */
export function chosenProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(PROTOCOL)) return PROTOCOL;
  return [...offered].find((one) => !one.startsWith(TICKET)) ?? false;
}
