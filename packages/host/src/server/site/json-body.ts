import type { IncomingMessage } from "node:http";
import type { Refusal } from "../listen/http-refusal.ts";

/** Limit on the size of a body, which contains at most a token. */
const MAX_BYTES = 4096;

/**
 * Reads a small JSON object. An empty body counts as an empty object. The JSON content type is required: browsers do
 * not send it to other sites without asking them.
 */
export async function readJsonBody(
  request: IncomingMessage,
): Promise<{ readonly body: Readonly<Record<string, unknown>> } | Refusal> {
  const isEmpty = request.headers["content-length"] === "0" || !hasBody(request);
  const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (!isEmpty && type !== "application/json") return bad("the body must have the type application/json");
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop early must not destroy the connection before the response was sent.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BYTES) return bad(`the body may have ${MAX_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  if (bytes === 0) return { body: {} };
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (typeof body === "object" && body !== null && !Array.isArray(body))
      return { body: body as Record<string, unknown> };
  } catch {
    // Invalid JSON gets the same refusal as JSON that is no object.
  }
  return bad("the body must be a JSON object");
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function bad(message: string): Refusal {
  return { status: 400, code: "badRequest", message };
}
