import { ENCODINGS, type StaticFile } from "./static-files.ts";

/**
 * Chooses the encoding of a file by the request's `Accept-Encoding`: the smallest one that the client accepts. Of the
 * client's preferences (`q`), only 0 counts, as a refusal.
 */
export function encodeFor(
  { body, encoded = {} }: StaticFile,
  accepted: string | undefined,
): { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> } {
  const headers = { Vary: "Accept-Encoding" };
  const qualities = parseAccepted(accepted ?? "");
  const encoding = ENCODINGS.find(
    (name) => encoded[name] !== undefined && (qualities.get(name) ?? qualities.get("*") ?? 0) > 0,
  );
  if (encoding === undefined) return { body, headers };
  return { body: encoded[encoding]!, headers: { ...headers, "Content-Encoding": encoding } };
}

function parseAccepted(text: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of text.split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    if (name !== "") qualities.set(name, quality === undefined ? 1 : Number(quality) || 0);
  }
  return qualities;
}
