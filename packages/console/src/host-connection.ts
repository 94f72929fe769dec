import { type Bobbin, type ConnectionStatus, connect, connectWebSocket } from "@bobbin/client";
import { signal } from "@preact/signals";
import { NotLetIn, redeemToken, ticketProtocols } from "./login-session.ts";
import { pageMetadata } from "./page-metadata.ts";

export const connection = signal<ConnectionStatus>({ state: "connecting", attempt: 1, error: null });

/** Why the host does not accept this browser; undefined if it does. A new link from `bobbin open` gives access. */
export const lockedOut = signal<string | undefined>(undefined);

/** Connects to the host that served this page, and connects again whenever the connection is lost. */
export async function connectHost(): Promise<Bobbin> {
  const { protocol, host } = location;
  const url = `${protocol === "https:" ? "wss:" : "ws:"}//${host}/`;
  if (pageMetadata.needsToken) await redeemToken();
  const open = async (signal: AbortSignal) => {
    const protocols = pageMetadata.needsToken ? await protocolsWithTicket() : ["bobbin.v1"];
    return connectWebSocket(url, { protocols, signal });
  };
  const bobbin = await connect(open, {
    name: "bobbin-console",
    title: "Bobbin console",
    version: pageMetadata.version || "0",
    answerByHand: true,
    retry: { maxMs: 3_000 },
    heartbeatMs: 10_000,
  });
  connection.value = bobbin.connection;
  bobbin.onConnection((status) => {
    connection.value = status;
  });
  return bobbin;
}

async function protocolsWithTicket(): Promise<readonly string[]> {
  try {
    return await ticketProtocols();
  } catch (cause) {
    if (cause instanceof NotLetIn) lockedOut.value = cause.message;
    throw cause;
  }
}
