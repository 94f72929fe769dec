import { join } from "node:path";
import type { Files } from "../platform/platform.ts";
import type { Leases } from "./leases.ts";

/** Keys that are remembered in a home; past these the oldest go, some at a time. */
const REMEMBERED = 4096;
const AT_ONCE = 512;

interface Known {
  readonly threadId: string;
  readonly hostId: string;
  readonly text: string;
}

/**
 * Which thread a client's key stands for. A claim a key, made before the thread is: of two starts with one key, in
 * whichever hosts, one makes it.
 */
export class StartKeys {
  readonly #folder: string;
  readonly #files: Files;
  readonly #leases: Leases;
  readonly #isThere: (threadId: string) => Promise<boolean>;
  /** How many there are, once somebody has looked. */
  #count: number | undefined;

  constructor(home: string, files: Files, leases: Leases, isThere: (threadId: string) => Promise<boolean>) {
    this.#folder = join(home, "start_keys");
    this.#files = files;
    this.#leases = leases;
    this.#isThere = isThere;
  }

  /** The thread that the key stands for: `threadId`, unless it stood for another before. */
  async reserve(key: string, threadId: string): Promise<string> {
    await this.#leases.announce();
    for (;;) {
      if (await this.#files.claim(this.#path(key), `${threadId} ${this.#leases.hostId}`)) {
        await this.#makeRoom();
        return threadId;
      }
      const known = await this.#known(key);
      if (known === undefined) continue;
      if (known.hostId === this.#leases.hostId || (await this.#isThere(known.threadId))) {
        return known.threadId;
      }
      // Its host may be about to make it. One that is gone makes nothing more, so this look is the last.
      await this.#leases.mustBeGone(known.threadId, known.hostId);
      if (await this.#isThere(known.threadId)) return known.threadId;
      await this.#leases.exclusively(async () => {
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
    // Ids of threads sort by the time of their making.
    known.sort((one, other) => ((one.known?.text ?? "") < (other.known?.text ?? "") ? -1 : 1));
    const old = known.slice(0, -REMEMBERED);
    for (const { name } of old) await this.forget(name);
    this.#count = known.length - old.length;
  }

  #path(key: string): string {
    return join(this.#folder, key);
  }
}
