import type { SealedValue } from "./sealed-value.ts";

/** A credential as the store contains it: in plain text, or encrypted with a key in the keyring. */
export type StoredCredential = { readonly value: string } | SealedValue;

/** Serializes a credential for the store. */
export function credentialText(key: string, credential: StoredCredential): string {
  return `${JSON.stringify({ key, ...credential })}\n`;
}

/** Returns undefined if the text is damaged, belongs to another key, or was written by another program. */
export function parseCredential(text: string | undefined, key: string): StoredCredential | undefined {
  try {
    const read = JSON.parse(text ?? "null") as Readonly<Record<string, unknown>> | null;
    if (read?.["key"] !== key) return undefined;
    const { value, item, sealed } = read;
    if (typeof value === "string") return { value };
    return typeof item === "string" && typeof sealed === "string" ? { item, sealed } : undefined;
  } catch {
    return undefined;
  }
}
