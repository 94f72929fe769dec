import { join } from "node:path";
import type { Clock, Files } from "../platform/platform.ts";

export interface HoldersPorts {
  /** Where claims are. */
  readonly folder: string;
  readonly files: Pick<Files, "list" | "claimed">;
  readonly clock: Pick<Clock, "monotonic">;
  /** Whether this host has the thread. */
  isOwn(threadId: string): boolean;
  /** Whether the host with this id lives. */
  lives(hostId: string): Promise<boolean>;
}

/** How long claims are remembered that were read for a list. There may be thousands of them, and many lists. */
const FRESH_MS = 1000;

/** Claims of other hosts at one moment, and what was found out about them since. */
interface Seen {
  readonly at: number;
  readonly claims: Promise<ReadonlySet<string>>;
  readonly lives: Map<string, Promise<boolean>>;
}

/** Tells which other host has a thread loaded. Nothing is taken and nothing waits. */
export class Holders {
  readonly #ports: HoldersPorts;
  #seen: Seen | undefined;

  constructor(ports: HoldersPorts) {
    this.#ports = ports;
  }

  /** The living host that has the thread now; undefined if none has it, or this one does. */
  async of(threadId: string): Promise<string | undefined> {
    return this.#holder(threadId, (host) => this.#ports.lives(host));
  }

  /** Those of several threads, as they were a second ago or later; the folder of claims is read once for all. */
  async ofAll(threadIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const { claims, lives } = this.#look();
    const held = await claims;
    const isAlive = (host: string): Promise<boolean> => {
      const known = lives.get(host) ?? this.#ports.lives(host);
      lives.set(host, known);
      return known;
    };
    for (const id of threadIds) {
      const holder = held.has(id) ? await this.#holder(id, isAlive) : undefined;
      if (holder !== undefined) found.set(id, holder);
    }
    return found;
  }

  async #holder(threadId: string, isAlive: (host: string) => Promise<boolean>): Promise<string | undefined> {
    if (this.#ports.isOwn(threadId)) return undefined;
    const holder = await this.#ports.files.claimed(join(this.#ports.folder, threadId));
    return holder !== undefined && (await isAlive(holder)) && !this.#ports.isOwn(threadId)
      ? holder
      : undefined;
  }

  #look(): Seen {
    const at = this.#ports.clock.monotonic();
    if (this.#seen === undefined || at - this.#seen.at > FRESH_MS) {
      this.#seen = { at, claims: this.#others(), lives: new Map() };
    }
    return this.#seen;
  }

  async #others(): Promise<ReadonlySet<string>> {
    try {
      const names = (await this.#ports.files.list(this.#ports.folder)).map(({ name }) => name);
      // Locks and the like have a dot in their names, claims have the thread's id.
      return new Set(names.filter((name) => !name.includes(".") && !this.#ports.isOwn(name)));
    } catch (cause) {
      // The next one who asks tries again.
      this.#seen = undefined;
      throw cause;
    }
  }
}
