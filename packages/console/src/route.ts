import { signal } from "@preact/signals";

/** The page that the URL's fragment names. The fragment is used, because the host serves only one HTML page. */
export type Route =
  | { readonly page: "threads" }
  | { readonly page: "new" }
  | {
      readonly page: "thread";
      readonly threadId: string;
      /** The turn whose timeline is open; `last` follows the last one. */
      readonly timelineOf?: string;
      readonly journal?: JournalRoute;
    }
  | { readonly page: "host" };

/** Which records of a journal are shown. */
export interface JournalRoute {
  /** Only records of this turn. */
  readonly turnId?: string;
  /** The cursor of the record that is open. */
  readonly record?: string;
}

export function parseRoute(hash: string): Route {
  const [, page = "", id = "", part = "", ...rest] = hash.split("/").map(decoded);
  if (page === "new" || page === "host") return { page };
  if (page !== "thread" || id === "") return { page: "threads" };
  const [turnId = "", record = ""] = rest;
  if (part === "turn" && turnId !== "") return { page, threadId: id, timelineOf: turnId };
  if (part !== "journal") return { page, threadId: id };
  const journal = { ...(turnId !== "" && { turnId }), ...(record !== "" && { record }) };
  return { page, threadId: id, journal };
}

/** Decodes a part of the address. If it has an invalid `%` sequence, as typed addresses may, it is not changed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function threadHref(threadId: string): string {
  return `#/thread/${encodeURIComponent(threadId)}`;
}

export function timelineHref(threadId: string, turnId: string): string {
  return `${threadHref(threadId)}/turn/${encodeURIComponent(turnId)}`;
}

export function journalHref(threadId: string, { turnId = "", record = "" }: JournalRoute = {}): string {
  const parts = record === "" ? [turnId] : [turnId, record];
  return [`${threadHref(threadId)}/journal`, ...parts.map(encodeURIComponent)].join("/").replace(/\/$/, "");
}

export const route = signal<Route>({ page: "threads" });

/** Updates `route` whenever the address changes. */
export function followAddress(): void {
  const read = () => {
    route.value = parseRoute(location.hash);
  };
  window.addEventListener("hashchange", read);
  read();
}

export function go(hash: string): void {
  location.hash = hash;
}
