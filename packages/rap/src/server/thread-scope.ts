// What a server keeps for one thread, from its first call until it is closed or forgotten.
import { Entry } from "./entry.ts";
import { type Log, told } from "./log.ts";
import { type Platform, pause } from "./platform.ts";
import { ToolError } from "./result.ts";
import type { Folders, Store } from "./store.ts";
import type { ThreadContext } from "./tool.ts";

/** What outlives the process. */
export interface ThreadRecord {
  readonly tenant: string;
  readonly id: string;
  readonly lastUsed: number;
  /** Types of views that are shown. */
  readonly views: readonly string[];
  /** Answers that count for the rest of the thread, by the keys of their questions. */
  readonly remembered: { readonly [key: string]: string };
}

export interface ScopeGround {
  readonly platform: Platform;
  readonly store: Store;
  readonly folders: Folders | undefined;
  readonly log: Log;
}

interface Resource {
  readonly key: string;
  readonly opened: Promise<unknown>;
  readonly close: (value: unknown) => Promise<void> | void;
}

/** How long something may take to close before it is left alone. */
const CLOSE_MS = 30_000;
/** How long someone may look after what a thread leaves behind. */
const HOOK_MS = 600_000;
/** How long calls that were told to stop may still use what the thread has. */
const CALLS_MS = 10_000;

export const threadKey = (tenant: string, id: string): string => `thread ${JSON.stringify([tenant, id])}`;

export class ThreadScope {
  readonly #ground: ScopeGround;
  /** When what an earlier life of the thread left is gone. */
  readonly #ready: Promise<void>;
  readonly #entry: Entry;
  readonly #resources = new Map<string, Resource>();
  #record: ThreadRecord;
  #kept: boolean;
  #known: Promise<void> | undefined;
  #keptLastUsed = 0;
  #users = 0;
  #unused: (() => void) | undefined;
  #closing = false;

  constructor(ground: ScopeGround, record: ThreadRecord, kept: boolean, ready: Promise<void>) {
    this.#ground = ground;
    this.#record = record;
    this.#entry = new Entry(ground.store, threadKey(record.tenant, record.id));
    this.#kept = kept;
    this.#ready = ready;
  }

  get tenant(): string {
    return this.#record.tenant;
  }

  get id(): string {
    return this.#record.id;
  }

  get lastUsed(): number {
    return this.#record.lastUsed;
  }

  get busy(): boolean {
    return this.#users > 0;
  }

  /** Nothing is lost if it is forgotten. */
  get empty(): boolean {
    return !this.busy && !this.#kept && this.#resources.size === 0;
  }

  enter(): void {
    this.#users++;
    this.#record = { ...this.#record, lastUsed: this.#ground.platform.now() };
  }

  leave(): void {
    this.#users--;
    this.#record = { ...this.#record, lastUsed: this.#ground.platform.now() };
    if (this.#users === 0) this.#unused?.();
  }

  context(ancestors: readonly string[]): ThreadContext {
    return {
      id: this.id,
      ancestors,
      resource: (key, open, close) => this.#resource(key, open, close),
      directory: () => this.#directory(),
    };
  }

  /** Writes down that the thread is known, so that it is closed or forgotten in due time after a restart too. */
  async keep(): Promise<void> {
    this.#kept = true;
    await this.#ready;
    if (this.#closing) return;
    this.#keptLastUsed = this.lastUsed;
    await this.#entry.write(this.#record);
  }

  /** Writes its last use down again when the one that is written is too old to judge by. */
  async refresh(everyMs: number): Promise<void> {
    if (this.#kept && !this.#closing && this.lastUsed - this.#keptLastUsed > everyMs) await this.keep();
  }

  remembered(key: string): string | undefined {
    return Object.hasOwn(this.#record.remembered, key) ? this.#record.remembered[key] : undefined;
  }

  async remember(key: string, answer: string): Promise<void> {
    this.#record = { ...this.#record, remembered: { ...this.#record.remembered, [key]: answer } };
    await this.keep();
  }

  shows(view: string): boolean {
    return this.#record.views.includes(view);
  }

  async show(view: string, shown: boolean): Promise<void> {
    if (this.shows(view) === shown) return;
    const others = this.#record.views.filter((type) => type !== view);
    this.#record = { ...this.#record, views: shown ? [...others, view] : others };
    await this.keep();
  }

  /** Everything goes, whatever fails on the way: each failure is logged. */
  async close(closed: (scope: ThreadScope) => Promise<void>): Promise<void> {
    this.#closing = true;
    await this.#ready;
    await this.release();
    if (!this.#kept) return;
    const lookedAfter = await this.#step("the hook of a closed thread", () => closed(this), HOOK_MS);
    await this.#step("removing a thread's folder", () => this.#removeFolder(lookedAfter));
    await this.#step("forgetting a thread", () => this.#entry.remove());
  }

  /** Closes what lives in this process, newest first. */
  async release(): Promise<void> {
    this.#closing = true;
    if (this.busy) {
      const unused = new Promise<void>((resolve) => {
        this.#unused = resolve;
      });
      await this.#bounded(unused, CALLS_MS);
    }
    for (const { key, opened, close } of [...this.#resources.values()].reverse()) {
      this.#resources.delete(key);
      const value = await this.#bounded(
        opened.then((value) => ({ value })).catch(() => undefined),
        CLOSE_MS,
      );
      if (value)
        await this.#step(`closing the resource ${JSON.stringify(key)}`, async () => close(value.value));
    }
  }

  /** What nobody has looked after is not thrown away. */
  async #removeFolder(lookedAfter: boolean): Promise<void> {
    const { folders, log } = this.#ground;
    if (lookedAfter) return folders?.remove(this.tenant, this.id);
    const path = await folders?.setAside(this.tenant, this.id);
    if (path !== undefined)
      log({ level: "error", says: "a thread's folder was set aside", thread: this.id, path });
  }

  /** The folder if there is one, for whoever looks after a closed thread. */
  folder(): Promise<string | undefined> {
    return this.#ground.folders?.find(this.tenant, this.id) ?? Promise.resolve(undefined);
  }

  async #resource<T>(
    key: string,
    open: () => Promise<T> | T,
    close: (value: T) => Promise<void> | void,
  ): Promise<T> {
    await this.#ready;
    if (this.#closing) throw new ToolError("The thread was closed.");
    const known = this.#resources.get(key);
    if (known !== undefined) return known.opened as Promise<T>;
    const opened = (async () => open())();
    const resource: Resource = { key, opened, close: (value) => close(value as T) };
    this.#resources.set(key, resource);
    try {
      return await opened;
    } catch (error) {
      // The next call may have more luck.
      if (this.#resources.get(key) === resource) this.#resources.delete(key);
      throw error;
    }
  }

  async #directory(): Promise<string> {
    const { folders } = this.#ground;
    if (folders === undefined)
      throw new Error("ctx.thread.directory() needs `data` with folders, such as folderData() on Node");
    // Known before it is made: a folder that nobody knows of would stay for ever.
    this.#known ??= this.keep();
    await this.#known;
    await this.#ready;
    if (this.#closing) throw new ToolError("The thread was closed.");
    return folders.open(this.tenant, this.id);
  }

  /** Whether it went well. */
  async #step(what: string, work: () => Promise<void>, ms = CLOSE_MS): Promise<boolean> {
    const { log } = this.#ground;
    try {
      const ended = await this.#bounded(
        work().then(() => true),
        ms,
      );
      if (ended) return true;
      log({ level: "error", says: `${what} takes too long`, thread: this.id });
    } catch (error) {
      log({ level: "error", says: `${what} failed`, thread: this.id, error: told(error) });
    }
    return false;
  }

  async #bounded<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
    const done = new AbortController();
    const late = pause(this.#ground.platform, ms, done.signal).then(() => undefined);
    try {
      return await Promise.race([work, late]);
    } finally {
      done.abort();
    }
  }
}
