import { createHash } from "node:crypto";

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether the id is a UUIDv7 with a plausible time. */
export function isThreadId(id: string): boolean {
  return UUID7.test(id) && timeOfId(id) > FIRST_MS && timeOfId(id) < LAST_MS;
}

/** Time of a UUIDv7, in milliseconds. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The years 2020 and 2100. */
const FIRST_MS = 1_577_836_800_000;
const LAST_MS = 4_102_444_800_000;

/**
 * Makes a UUIDv7 from a time and names. Equal inputs give equal ids in every process: a second import finds the
 * threads of the first.
 */
export function stableId(ms: number, ...names: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(names)).digest("hex");
  const time = Math.min(Math.max(Math.floor(ms), 0), LAST_MS)
    .toString(16)
    .padStart(12, "0");
  const variant = ((Number.parseInt(hash[3]!, 16) & 3) | 8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}
