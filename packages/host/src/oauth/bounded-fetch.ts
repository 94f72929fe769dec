import type { Platform } from "../platform/platform.ts";
import { LoginError, saidBy } from "./login-error.ts";

/** Limit on the bytes of a reply. Metadata and token replies are far smaller. */
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 15_000;

type FetchPlatform = Pick<Platform, "fetch" | "timers">;

export type BoundedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Creates a `fetch` for logins with limits on the time of a request and the size of a reply. The MCP server's
 * configured headers are sent to its own origin only.
 */
export function boundedFetch(
  platform: FetchPlatform,
  server: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  signal: AbortSignal,
): BoundedFetch {
  const { origin } = new URL(server.url);
  return (address, init) => {
    const url = new URL(address);
    const headers = new Headers(url.origin === origin ? { ...server.headers } : {});
    new Headers(init?.headers).forEach((value, name) => {
      headers.set(name, value);
    });
    return requestWithin(platform, signal, url, async (within) => {
      const response = await platform.fetch(url, { ...init, headers, signal: within });
      const bytes = await bytesOf(response, url);
      const { status, statusText } = response;
      // Responses with these statuses must have no body.
      const body = status === 204 || status === 205 || status === 304 ? null : bytes;
      return new Response(body, { status, statusText, headers: response.headers });
    });
  };
}

/**
 * Makes a request that the signal and a timeout can abort. The error names the server, and does not contain what was
 * sent.
 */
export async function requestWithin<T>(
  { timers }: FetchPlatform,
  signal: AbortSignal,
  url: URL,
  request: (within: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const stopTimer = timers.after(TIMEOUT_MS, abort);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await request(controller.signal);
  } catch (cause) {
    if (cause instanceof LoginError) throw cause;
    if (signal.aborted) throw new LoginError("cancelled", "It was cancelled.");
    if (controller.signal.aborted)
      throw new LoginError(
        "unreachable",
        `${withoutQuery(url)} did not reply within ${TIMEOUT_MS / 1000} s.`,
      );
    throw new LoginError("unreachable", `${withoutQuery(url)} cannot be reached: ${reasonOf(cause)}.`);
  } finally {
    stopTimer();
    signal.removeEventListener("abort", abort);
    // Aborts the rest of the reply, which was not read.
    controller.abort();
  }
}

/** The URL without its query, which may contain secrets. */
function withoutQuery({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

async function bytesOf(response: Response, url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > MAX_BYTES)
      throw new LoginError("unreachable", `${withoutQuery(url)} sent more than ${MAX_BYTES} bytes.`);
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}

/** The reason behind a failed `fetch`, whose own message does not contain it. */
function reasonOf(cause: unknown): string {
  const { cause: behind } = cause as { cause?: unknown };
  const reason = behind instanceof Error ? behind : cause;
  return saidBy(reason instanceof Error ? reason.message || reason.name : String(reason));
}
