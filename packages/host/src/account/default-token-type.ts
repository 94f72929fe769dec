import type { Platform } from "../platform/platform.ts";

/**
 * Adds `token_type: "Bearer"` to token replies without it: OpenAI's authorization server omits the field, and the
 * OAuth library requires it.
 */
export function withDefaultTokenType<P extends Pick<Platform, "fetch">>(platform: P): P {
  const fetch: Platform["fetch"] = async (input, init) => {
    const reply = await platform.fetch(input, init);
    const isJson = /\bjson\b/.test(reply.headers.get("content-type") ?? "");
    if (init?.method !== "POST" || reply.status !== 200 || !isJson) return reply;
    const text = await textOf(reply);
    const headers = new Headers(reply.headers);
    headers.delete("content-encoding");
    headers.delete("content-length");
    return new Response(withType(text), { status: reply.status, headers });
  };
  return { ...platform, fetch };
}

/** Limit on the size of a token reply. */
const MAX_BYTES = 1024 * 1024;

async function textOf({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > MAX_BYTES) throw new Error(`the reply has more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function withType(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null || !("access_token" in body) || "token_type" in body)
      return text;
    return JSON.stringify({ ...body, token_type: "Bearer" });
  } catch {
    return text;
  }
}
