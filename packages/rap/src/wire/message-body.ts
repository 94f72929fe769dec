import { type JsonObject, type Parsed, parse } from "./shape.ts";
import { anyObject } from "./value-shapes.ts";

/**
 * Reads the body of a request. Undefined if the body has more than `max` bytes; the rest is not read. Rejects if the
 * sender disconnects.
 *
 * @example
 * const bytes = await readBytes(request.body, LIMITS.callbackBytes);
 * if (bytes === undefined) return new Response(null, { status: 413 });
 */
export async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  max: number,
): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > max) {
      // The cancellation is not awaited, because the sender may keep the stream open. Its failure does not matter.
      void reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
  if (chunks.length === 1) return chunks[0]!;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/**
 * Parses the bytes of a message: a JSON object in UTF-8 of bounded depth.
 *
 * @example
 * const read = parseJson(bytes);
 * if (read.ok) parseCallback(read.value);
 */
export function parseJson(bytes: Uint8Array): Parsed<JsonObject> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const says = error instanceof SyntaxError ? "is not JSON" : "is not UTF-8";
    return { ok: false, problem: { path: "", says } };
  }
  return parse(anyObject, value);
}

/**
 * Whether a Content-Type header is `application/json`, without a charset other than UTF-8.
 *
 * @example
 * isJson("application/json; charset=utf-8"); // true
 */
export function isJson(contentType: string | null | undefined): boolean {
  const [type, ...parameters] = (contentType ?? "").toLowerCase().split(";");
  if (type!.trim() !== "application/json") return false;
  return parameters.every((parameter) => {
    const [name, value] = parameter.split("=");
    return name!.trim() !== "charset" || /^"?utf-?8"?$/.test((value ?? "").trim());
  });
}
