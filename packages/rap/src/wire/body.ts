import { type JsonObject, type Parsed, parse } from "./shape.ts";
import { anyObject } from "./values.ts";

/**
 * All bytes of a body, or undefined if there are more than `max`; the rest is then not read.
 * Throws what the stream throws when the sender goes away.
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
      // The sender may go on for ever. It is not waited for, and what its stream says to this is nobody's business.
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
 * Reads bytes as what every message is: a JSON object in UTF-8, of bounded depth.
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
 * Whether a Content-Type header says JSON, and no other charset than UTF-8.
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
