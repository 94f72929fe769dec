import { join } from "node:path";
import type { Files } from "../../platform/platform.ts";
import type { ClaimFiles } from "./claim-files.ts";

/** Limit on the keys of a home. Beyond it, the oldest are removed, in batches. */
const REMEMBERED = 4096;
const AT_ONCE = 512;

interface Known {
  readonly threadId: string;
  readonly hostId: string;
  readonly text: string;
}

/**
 * Maps a client's idempotency key to a thread. A file for the key is created before the thread, so that of two starts
 * with one key, on any hosts, only one creates the thread.
 */
export class StartIdempotencyKeyFiles {
  readonly #folder: string;
  readonly #files: Files;
  readonly #claims: ClaimFiles;
  readonly #isThere: (threadId: string) => Promise<boolean>;
  /** Number of keys, once they have been counted. */
  #count: number | undefined;

  constructor(
    home: string,
    files: Files,
    claims: ClaimFiles,
    isThere: (threadId: string) => Promise<boolean>,
  ) {
    this.#folder = join(home, "start_keys");
    this.#files = files;
    this.#claims = claims;
    this.#isThere = isThere;
  }

  /** Returns `threadId`, or the thread that the key was reserved for earlier. */
  async reserve(key: string, threadId: string): Promise<string> {
    await this.#claims.announce();
    for (;;) {
      if (await this.#files.claim(this.#path(key), `${threadId} ${this.#claims.hostId}`)) {
        await this.#makeRoom();
        return threadId;
      }
      const known = await this.#known(key);
      if (known === undefined) continue;
      if (known.hostId === this.#claims.hostId || (await this.#isThere(known.threadId))) {
        return known.threadId;
      }
      // The host of the reservation may be about to create the thread. A dead host creates nothing more, so the next
      // check is final.
      await this.#claims.mustBeGone(known.threadId, known.hostId);
      if (await this.#isThere(known.threadId)) return known.threadId;
      await this.#claims.exclusively(async () => {
        if ((await this.#known(key))?.text === known.text) await this.forget(key);
      });
    }
  }

  async forget(key: string): Promise<void> {
    await this.#files.remove(this.#path(key));
  }

  async #known(key: string): Promise<Known | undefined> {
    const text = await this.#files.claimed(this.#path(key));
    if (text === undefined) return undefined;
    const [threadId, hostId] = text.split(" ");
    return { threadId: threadId!, hostId: hostId!, text };
  }

  async #makeRoom(): Promise<void> {
    this.#count ??= (await this.#files.list(this.#folder)).length - 1;
    if (++this.#count < REMEMBERED + AT_ONCE) return;
    const names = (await this.#files.list(this.#folder)).map(({ name }) => name);
    const known = await Promise.all(names.map(async (name) => ({ name, known: await this.#known(name) })));
    // Thread ids sort by their time of creation.
    known.sort((one, other) => ((one.known?.text ?? "") < (other.known?.text ?? "") ? -1 : 1));
    const old = known.slice(0, -REMEMBERED);
    for (const { name } of old) await this.forget(name);
    this.#count = known.length - old.length;
  }

  #path(key: string): string {
    return join(this.#folder, key);
  }
}
