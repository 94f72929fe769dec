import { join } from "node:path";
import type { Clock, Files } from "../../platform/platform.ts";

export interface ClaimHoldersPorts {
  /** Folder of the claims. */
  readonly folder: string;
  readonly files: Pick<Files, "list" | "claimed">;
  readonly clock: Pick<Clock, "monotonic">;
  /** Whether this host has the thread. */
  isOwn(threadId: string): boolean;
  /**
   * This host's ID, if it has one yet. Claims of this host do not count, not even those that could not be released.
   */
  self(): string | undefined;
  /** Whether the host with this id is alive. */
  lives(hostId: string): Promise<boolean>;
}

/** How long the list of claims is cached. A home may have thousands of claims, and clients request many lists. */
const FRESH_MS = 1000;

/** Claims of other hosts at one moment, and which of these hosts are alive. */
interface Seen {
  readonly at: number;
  readonly claims: Promise<ReadonlySet<string>>;
  readonly lives: Map<string, Promise<boolean>>;
}

/** Looks up which other host has a thread loaded, without taking a claim or waiting for one. */
export class ClaimHolders {
  readonly #ports: ClaimHoldersPorts;
  #seen: Seen | undefined;

  constructor(ports: ClaimHoldersPorts) {
    this.#ports = ports;
  }

  /** Returns the living other host that has the thread; undefined if there is none. */
  async of(threadId: string): Promise<string | undefined> {
    return this.#holder(threadId, (host) => this.#ports.lives(host));
  }

  /** Like `of`, for several threads. The result may be a second old; the folder is read once for all of them. */
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
    if (holder === undefined || holder === this.#ports.self()) return undefined;
    return (await isAlive(holder)) && !this.#ports.isOwn(threadId) ? holder : undefined;
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
      // Locks and marks have a dot in their names; claims are named by the thread's id.
      return new Set(names.filter((name) => !name.includes(".") && !this.#ports.isOwn(name)));
    } catch (cause) {
      // The next call tries again.
      this.#seen = undefined;
      throw cause;
    }
  }
}
