/** A random ID. `crypto.randomUUID` is not used, because pages that are not served over HTTPS do not have it. */
export function uniqueId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
