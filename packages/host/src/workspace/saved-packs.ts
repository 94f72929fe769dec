import { join } from "node:path";
import type { Files } from "../platform/platform.ts";

/** What a thread may keep of files that its patches changed. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;
/** How much is saved before the bounds are looked at again. */
const LOOK_AGAIN_BYTES = 16 * 1024 * 1024;

/** Of how many threads that is remembered. */
const MAX_FOLDERS = 1000;

const PACK = /^before-([0-9a-f]{8})-([0-9a-f]{4})-/;

/** The name of what is saved for a call. Names of turns begin with their time, so names sort by age. */
export function packName(turnId: string, digest: string): string {
  return `before-${turnId}-${digest.slice(0, 32)}`;
}

/** Removes the oldest saved files of threads that have too many, or that are too old. */
export class SavedPacks {
  readonly #files: Pick<Files, "list" | "openRead" | "remove">;
  readonly #now: () => number;
  /** By folder: how much was saved since its bounds were looked at. */
  readonly #since = new Map<string, number>();

  constructor(files: Pick<Files, "list" | "openRead" | "remove">, now: () => number) {
    this.#files = files;
    this.#now = now;
  }

  /** Called when so much was saved in a folder. */
  async saved(folder: string, bytes: number): Promise<void> {
    const since = this.#since.get(folder);
    if (since !== undefined && since + bytes < LOOK_AGAIN_BYTES) {
      this.#since.set(folder, since + bytes);
      return;
    }
    this.#since.set(folder, 0);
    if (this.#since.size > MAX_FOLDERS) this.#since.delete(this.#since.keys().next().value!);
    await this.#prune(folder);
  }

  async #prune(folder: string): Promise<void> {
    const names = (await this.#files.list(folder)).map(({ name }) => name).filter((name) => PACK.test(name));
    const oldest = this.#now() - MAX_AGE_MS;
    let total = 0;
    // Newest first.
    for (const name of names.sort((one, other) => (one < other ? 1 : -1))) {
      const path = join(folder, name);
      total += await this.#sizeOf(path);
      if (total > MAX_BYTES || timeOf(name) < oldest) await this.#files.remove(path);
    }
  }

  async #sizeOf(path: string): Promise<number> {
    const file = await this.#files.openRead(path);
    if (file === undefined) return 0;
    try {
      return await file.size();
    } finally {
      await file.close();
    }
  }
}

function timeOf(name: string): number {
  const [, high, low] = PACK.exec(name)!;
  return Number.parseInt(high! + low!, 16);
}
