import { createHash } from "node:crypto";
import type { Ids } from "../platform/platform.ts";
import { KEY_BYTES } from "./sealed-value.ts";

/** Makes a random 256-bit key, from eight random integers of 53 bits each. */
export function newKey(ids: Ids): Buffer {
  const random = Array.from({ length: 8 }, () => ids.integer());
  return createHash("sha256").update(random.join(" ")).digest();
}

/** Returns undefined if the text is not a key. */
export function readKey(text: string | undefined): Buffer | undefined {
  const key = Buffer.from(text ?? "", "base64url");
  return key.length === KEY_BYTES ? key : undefined;
}
