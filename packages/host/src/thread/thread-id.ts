import { fault } from "../errors.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Parses a thread ID. Accepts every notation of a UUID: upper case, without dashes, as a URN. */
export function parseThreadId(text: string): string {
  const plain = text.toLowerCase().replace(/^urn:uuid:/, "");
  const id = /^[0-9a-f]{32}$/.test(plain)
    ? plain.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
    : plain;
  if (!UUID.test(id)) throw fault("invalidThreadId", `expected a UUID, found \`${text.slice(0, 64)}\``);
  return id;
}
