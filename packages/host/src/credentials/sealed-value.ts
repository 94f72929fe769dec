import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

/** A text that is encrypted with the key of a keyring item. */
export interface SealedValue {
  /** Name of the keyring item. */
  readonly item: string;
  readonly sealed: string;
}

const CIPHER = "aes-256-gcm";
export const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a text with AES-256-GCM. `name` says what the text is for. The name is authenticated, so that a value
 * cannot be used under another name.
 */
export function sealText(key: Buffer, name: string, text: string): string {
  // The IV is derived from the text, so that equal texts have equal ciphertexts and two texts never share an IV.
  const iv = createHmac("sha256", key)
    .update(JSON.stringify([name, text]))
    .digest()
    .subarray(0, IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
  return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString(
    "base64url",
  );
}

/** Decrypts a text. Returns undefined if it was changed, or encrypted with another key or name. */
export function openText(key: Buffer, name: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
  try {
    const opener = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    opener.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([opener.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), opener.final()]).toString(
      "utf8",
    );
  } catch {
    return undefined;
  }
}
