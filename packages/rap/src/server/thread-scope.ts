// The state that a tool server holds for one thread, from the thread's first call until it is closed or expires.

import { errorText, type Log } from "./log.ts";
import { type Platform, pause } from "./platform.ts";
import type { Folders, Store } from "./store.ts";
import { StoreEntry } from "./store-entry.ts";
import type { ThreadContext } from "./tool.ts";
import { ToolError } from "./tool-result.ts";

/** The stored part of a thread's state. It survives a restart of the server. */
export interface ThreadRecord {
  readonly tenant: string;
  readonly id: string;
  readonly lastUsed: number;
  /** Types of the views that the client currently shows. */
  readonly views: readonly string[];
  /** Answers that apply for the rest of the thread, by the `remember.key` of their questions. */
  readonly remembered: { readonly [key: string]: string };
}

export interface ThreadScopeDeps {
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

/** Time limit for closing a resource and for each other cleanup step. */
const CLOSE_MS = 30_000;
/** Time limit for the server's `onThreadClosed` hook. */
const HOOK_MS = 600_000;
/** Time that aborted calls have to end before the thread's resources are closed. */
const CALLS_MS = 10_000;

export const threadKey = (tenant: string, id: string): string => `thread ${JSON.stringify([tenant, id])}`;

export class ThreadScope {
  readonly #deps: ThreadScopeDeps;
  /** Resolves when the cleanup of an earlier thread with the same id has ended. */
  readonly #ready: Promise<void>;
  readonly #entry: StoreEntry;
  readonly #resources = new Map<string, Resource>();
  #record: ThreadRecord;
  /** Whether the thread is in the store. */
  #persisted: boolean;
  #persisting: Promise<void> | undefined;
  #persistedLastUsed = 0;
  #users = 0;
  #unused: (() => void) | undefined;
  #closing = false;

  constructor(deps: ThreadScopeDeps, record: ThreadRecord, persisted: boolean, ready: Promise<void>) {
    this.#deps = deps;
    this.#record = record;
    this.#entry = new StoreEntry(deps.store, threadKey(record.tenant, record.id));
    this.#persisted = persisted;
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

  /** Whether the scope can be dropped without losing anything. */
  get empty(): boolean {
    return !this.busy && !this.#persisted && this.#resources.size === 0;
  }

  enter(): void {
    this.#users++;
    this.#record = { ...this.#record, lastUsed: this.#deps.platform.now() };
  }

  leave(): void {
    this.#users--;
    this.#record = { ...this.#record, lastUsed: this.#deps.platform.now() };
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

  /** Stores the thread, so that it is cleaned up even after a restart. */
  async persist(): Promise<void> {
    this.#persisted = true;
    await this.#ready;
    if (this.#closing) return;
    this.#persistedLastUsed = this.lastUsed;
    await this.#entry.write(this.#record);
  }

  /** Stores `lastUsed` again if the stored one is older by more than `everyMs`. */
  async refresh(everyMs: number): Promise<void> {
    if (this.#persisted && !this.#closing && this.lastUsed - this.#persistedLastUsed > everyMs)
      await this.persist();
  }

  remembered(key: string): string | undefined {
    return Object.hasOwn(this.#record.remembered, key) ? this.#record.remembered[key] : undefined;
  }

  async remember(key: string, answer: string): Promise<void> {
    this.#record = { ...this.#record, remembered: { ...this.#record.remembered, [key]: answer } };
    await this.persist();
  }

  shows(view: string): boolean {
    return this.#record.views.includes(view);
  }

  async show(view: string, shown: boolean): Promise<void> {
    if (this.shows(view) === shown) return;
    const others = this.#record.views.filter((type) => type !== view);
    this.#record = { ...this.#record, views: shown ? [...others, view] : others };
    await this.persist();
  }

  /** Frees everything that the thread has. A failing step is logged and does not stop the others. */
  async close(closed: (scope: ThreadScope) => Promise<void>): Promise<void> {
    this.#closing = true;
    await this.#ready;
    await this.release();
    if (!this.#persisted) return;
    const hookSucceeded = await this.#step("the hook of a closed thread", () => closed(this), HOOK_MS);
    await this.#step("removing a thread's folder", () => this.#removeFolder(hookSucceeded));
    await this.#step("forgetting a thread", () => this.#entry.remove());
  }

  /** Waits for running calls, then closes the thread's resources, newest first. */
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

  /** Deletes the thread's folder, or moves it aside if the `onThreadClosed` hook failed: it may hold unsaved work. */
  async #removeFolder(hookSucceeded: boolean): Promise<void> {
    const { folders, log } = this.#deps;
    if (hookSucceeded) return folders?.remove(this.tenant, this.id);
    const path = await folders?.setAside(this.tenant, this.id);
    if (path !== undefined)
      log({
        level: "error",
        says: "the folder of a closed thread was set aside, because its hook failed",
        thread: this.id,
        path,
      });
  }

  /** The thread's folder for the `onThreadClosed` hook; undefined if there is none. */
  folder(): Promise<string | undefined> {
    return this.#deps.folders?.find(this.tenant, this.id) ?? Promise.resolve(undefined);
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
      // The next call tries to open it again.
      if (this.#resources.get(key) === resource) this.#resources.delete(key);
      throw error;
    }
  }

  async #directory(): Promise<string> {
    const { folders } = this.#deps;
    if (folders === undefined)
      throw new Error("ctx.thread.directory() needs `data` with folders, such as folderData() on Node");
    // The thread is stored before its folder is created: otherwise a crash in between would leave a folder for ever.
    this.#persisting ??= this.persist();
    await this.#persisting;
    await this.#ready;
    if (this.#closing) throw new ToolError("The thread was closed.");
    return folders.open(this.tenant, this.id);
  }

  /** Runs a cleanup step within a time limit and logs its failure. Resolves with whether it succeeded. */
  async #step(what: string, work: () => Promise<void>, ms = CLOSE_MS): Promise<boolean> {
    const { log } = this.#deps;
    try {
      const ended = await this.#bounded(
        work().then(() => true),
        ms,
      );
      if (ended) return true;
      log({ level: "error", says: `${what} takes too long`, thread: this.id });
    } catch (error) {
      log({ level: "error", says: `${what} failed`, thread: this.id, error: errorText(error) });
    }
    return false;
  }

  async #bounded<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
    const done = new AbortController();
    const late = pause(this.#deps.platform, ms, done.signal).then(() => undefined);
    try {
      return await Promise.race([work, late]);
    } finally {
      done.abort();
    }
  }
}
