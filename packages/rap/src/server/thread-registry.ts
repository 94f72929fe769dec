import type { BackgroundWork } from "./background-work.ts";
import { type ThreadRecord, ThreadScope, type ThreadScopeDeps, threadKey } from "./thread-scope.ts";

/** A closed or expired thread, as the `onThreadClosed` hook gets it. */
export interface ClosedThread {
  /** The id of the thread. */
  readonly id: string;
  /** The thread's folder, if it has one. Deleted after the hook. */
  readonly directory: string | undefined;
  /** `closed`: the host closed the thread. `expired`: it made no call for too long. */
  readonly reason: "closed" | "expired";
}

export interface ThreadRegistryOptions extends ThreadScopeDeps {
  readonly background: BackgroundWork;
  /** A thread without a call for this long is closed as expired. */
  readonly ttlMs: number;
  readonly sweepMs: number;
  readonly onClosed: ((thread: ClosedThread) => Promise<void> | void) | undefined;
}

/**
 * All threads that a tool server holds state for. The notice of a closing may get lost, so unused threads expire too.
 */
export class ThreadRegistry {
  readonly #options: ThreadRegistryOptions;
  readonly #scopes = new Map<string, ThreadScope>();
  /** Running cleanups. A new thread with the same id waits for the cleanup of the old one. */
  readonly #closing = new Map<string, Promise<void>>();
  #stopSweeping: () => void = () => {};

  constructor(options: ThreadRegistryOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    for (const [key, value] of await this.#options.store.list("thread ")) {
      const record = JSON.parse(value) as ThreadRecord;
      this.#scopes.set(key, new ThreadScope(this.#options, record, true, Promise.resolve()));
    }
    this.#sweepLater();
  }

  /** The scope of a thread, for a call that starts. Each call of `enter` needs a `leave` after it. */
  enter(tenant: string, id: string): ThreadScope {
    const key = threadKey(tenant, id);
    let scope = this.#scopes.get(key);
    if (scope === undefined) {
      const record = { tenant, id, lastUsed: this.#options.platform.now(), views: [], remembered: {} };
      const ready = this.#closing.get(key) ?? Promise.resolve();
      scope = new ThreadScope(this.#options, record, false, ready);
      this.#scopes.set(key, scope);
      const begun = scope;
      // A server with the hook stores every thread, so that the hook is called after a restart too.
      if (this.#options.onClosed !== undefined)
        void this.#options.background.run("storing a thread", () => begun.persist());
    }
    scope.enter();
    return scope;
  }

  leave(scope: ThreadScope): void {
    scope.leave();
    const key = threadKey(scope.tenant, scope.id);
    if (scope.empty && this.#scopes.get(key) === scope) this.#scopes.delete(key);
  }

  /** A remembered answer of the last of `ids` that has one. `ids` are a thread and its ancestors, root first. */
  remembered(tenant: string, ids: readonly string[], key: string): string | undefined {
    for (const id of ids.toReversed()) {
      const answer = this.#scopes.get(threadKey(tenant, id))?.remembered(key);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  /** Starts closing a thread, and returns at once. Does nothing for an unknown id. */
  close(tenant: string, id: string): void {
    const scope = this.#scopes.get(threadKey(tenant, id));
    if (scope !== undefined) this.#close(scope, "closed");
  }

  #close(scope: ThreadScope, reason: ClosedThread["reason"]): void {
    const key = threadKey(scope.tenant, scope.id);
    this.#scopes.delete(key);
    const closing = this.#options.background
      .run("closing a thread", () => scope.close((closed) => this.#callHook(closed, reason)))
      .finally(() => {
        if (this.#closing.get(key) === closing) this.#closing.delete(key);
      });
    this.#closing.set(key, closing);
  }

  async #callHook(scope: ThreadScope, reason: ClosedThread["reason"]): Promise<void> {
    await this.#options.onClosed?.({ id: scope.id, directory: await scope.folder(), reason });
  }

  #sweepLater(): void {
    this.#stopSweeping = this.#options.platform.after(this.#options.sweepMs, () => {
      void this.#options.background.run("sweeping threads", () => this.#sweep());
      this.#sweepLater();
    });
  }

  async #sweep(): Promise<void> {
    const { ttlMs, platform } = this.#options;
    for (const scope of [...this.#scopes.values()]) {
      if (scope.busy) continue;
      if (platform.now() - scope.lastUsed >= ttlMs) this.#close(scope, "expired");
      else await scope.refresh(ttlMs / 10);
    }
  }

  /**
   * For the end of the process. Closes the resources of all threads; stored state and folders stay for the next start.
   */
  async stop(): Promise<void> {
    this.#stopSweeping();
    const scopes = [...this.#scopes.values()];
    this.#scopes.clear();
    await Promise.all(scopes.map((scope) => scope.refresh(0)));
    await Promise.all(scopes.map((scope) => scope.release()));
    await Promise.all(this.#closing.values());
  }
}
