import type { BlobStore } from "./file-backups.ts";

/** Limits on the backups of one thread: bytes and age. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;
/** How many bytes are saved before the limits are checked again. */
const CHECK_EVERY_BYTES = 16 * 1024 * 1024;

/** Limit on the number of threads for which the saved bytes are counted. */
const MAX_THREADS = 1000;

const PREFIX = "before-";
const PACK = /^before-([0-9a-f]{8})-([0-9a-f]{4})-/;

/** The name of a backup. It starts with the turn's id, a UUIDv7, so names sort by age. */
export function packName(turnId: string, digest: string): string {
  return `${PREFIX}${turnId}-${digest.slice(0, 32)}`;
}

/** The part of a thread's storage that has its backups. */
type Backups = Pick<BlobStore, "blobs" | "removeBlob">;

/** Removes the oldest backups of a thread beyond the limits. */
export class BackupRetention {
  readonly #now: () => number;
  /** For each thread, the bytes saved since its limits were last checked. */
  readonly #since = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Called after a backup of `bytes` was written for a thread. */
  async saved(threadId: string, backups: Backups, bytes: number): Promise<void> {
    const since = this.#since.get(threadId);
    if (since !== undefined && since + bytes < CHECK_EVERY_BYTES) {
      this.#since.set(threadId, since + bytes);
      return;
    }
    this.#since.set(threadId, 0);
    if (this.#since.size > MAX_THREADS) this.#since.delete(this.#since.keys().next().value!);
    await this.#prune(backups);
  }

  async #prune(backups: Backups): Promise<void> {
    const packs = (await backups.blobs(PREFIX)).filter(({ name }) => PACK.test(name));
    const oldest = this.#now() - MAX_AGE_MS;
    let total = 0;
    // From the newest to the oldest backup.
    for (const { name, bytes } of packs.sort((one, other) => (one.name < other.name ? 1 : -1))) {
      total += bytes;
      if (total > MAX_BYTES || timeOf(name) < oldest) await backups.removeBlob(name);
    }
  }
}

function timeOf(name: string): number {
  const [, high, low] = PACK.exec(name)!;
  return Number.parseInt(high! + low!, 16);
}
