// Login on a listener with authentication: the one-time token in the address is exchanged for a session key, and the
// session key for a ticket per connection.

import { storedValue, storeValue } from "./parts/stored-value.ts";

const STORED = "bobbin-session";
const FRAGMENT = /^#token=([\w-]+)$/;

/** The host does not accept this browser's token or session. The user needs a new link from `bobbin open`. */
export class NotLetIn extends Error {
  override readonly name = "NotLetIn";
}

/** Exchanges the token in the address, if there is one, and removes it from the address and the history. */
export async function redeemToken(): Promise<void> {
  const token = FRAGMENT.exec(location.hash)?.[1];
  if (token === undefined) return;
  history.replaceState(null, "", `${location.pathname}#/`);
  // If the link is invalid, an earlier session may still be valid.
  const known = storedValue(STORED);
  try {
    const { key } = await post<{ key: string }>("/session", { token });
    storeValue(STORED, key);
  } catch (cause) {
    if (known === null) throw cause;
  }
}

/** If a link is pasted into the address of an open page, only the fragment changes, so the page is reloaded. */
export function watchForLinks(): void {
  window.addEventListener("hashchange", () => {
    if (FRAGMENT.test(location.hash)) location.reload();
  });
}

/** The WebSocket subprotocols that contain a ticket. */
export async function ticketProtocols(): Promise<readonly string[]> {
  const key = storedValue(STORED);
  if (key === null) throw new NotLetIn("This browser has no session with this host.");
  const { ticket } = await post<{ ticket: string }>("/ticket", {}, key);
  return ["bobbin.v1", `ticket.${ticket}`];
}

async function post<T>(path: string, body: object, key?: string): Promise<T> {
  const response = await fetch(path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  });
  const reply = (await response.json()) as T & { error?: { message: string } };
  if (response.ok) return reply;
  const message = reply.error?.message ?? response.statusText;
  if (response.status !== 401) throw new Error(message);
  if (key !== undefined) storeValue(STORED, null);
  throw new NotLetIn(message);
}
