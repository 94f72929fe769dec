import type { Background } from "./background.ts";
import { type ScopeGround, type ThreadRecord, ThreadScope, threadKey } from "./thread-scope.ts";

/** A thread that is over. */
export interface ClosedThread {
  readonly id: string;
  /** Its folder, if it has one; removed afterwards. */
  readonly directory: string | undefined;
  /** Its host said so, or nothing was heard of it for too long. */
  readonly reason: "closed" | "expired";
}

export interface ThreadsOptions extends ScopeGround {
  readonly background: Background;
  /** A thread that was not used for so long is forgotten. */
  readonly ttlMs: number;
  readonly sweepMs: number;
  readonly onClosed: ((thread: ClosedThread) => Promise<void> | void) | undefined;
}

/** All threads that a server keeps something for. A closing may never be told, so time closes them too. */
export class Threads {
  readonly #options: ThreadsOptions;
  readonly #scopes = new Map<string, ThreadScope>();
  /** What is being closed. A thread that starts again meanwhile waits until the ground is clean. */
  readonly #closing = new Map<string, Promise<void>>();
  #stopSweeping: () => void = () => {};

  constructor(options: ThreadsOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    for (const [key, value] of await this.#options.store.list("thread ")) {
      const record = JSON.parse(value) as ThreadRecord;
      this.#scopes.set(key, new ThreadScope(this.#options, record, true, Promise.resolve()));
    }
    this.#sweepLater();
  }

  /** For a call that begins. Every one must leave again. */
  enter(tenant: string, id: string): ThreadScope {
    const key = threadKey(tenant, id);
    let scope = this.#scopes.get(key);
    if (scope === undefined) {
      const record = { tenant, id, lastUsed: this.#options.platform.now(), views: [], remembered: {} };
      const ready = this.#closing.get(key) ?? Promise.resolve();
      scope = new ThreadScope(this.#options, record, false, ready);
      this.#scopes.set(key, scope);
      const begun = scope;
      // Whoever looks after closed threads wants to hear of each, after a restart too.
      if (this.#options.onClosed !== undefined)
        void this.#options.background.run("writing a thread down", () => begun.keep());
    }
    scope.enter();
    return scope;
  }

  leave(scope: ThreadScope): void {
    scope.leave();
    const key = threadKey(scope.tenant, scope.id);
    if (scope.empty && this.#scopes.get(key) === scope) this.#scopes.delete(key);
  }

  /** An answer that counts for a thread, its own or one of those above it; the nearest first. */
  remembered(tenant: string, ids: readonly string[], key: string): string | undefined {
    for (const id of ids.toReversed()) {
      const answer = this.#scopes.get(threadKey(tenant, id))?.remembered(key);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  /** Returns at once. An id that nobody knows is no news. */
  close(tenant: string, id: string): void {
    const scope = this.#scopes.get(threadKey(tenant, id));
    if (scope !== undefined) this.#close(scope, "closed");
  }

  #close(scope: ThreadScope, reason: ClosedThread["reason"]): void {
    const key = threadKey(scope.tenant, scope.id);
    this.#scopes.delete(key);
    const closing = this.#options.background
      .run("closing a thread", () => scope.close((closed) => this.#tell(closed, reason)))
      .finally(() => {
        if (this.#closing.get(key) === closing) this.#closing.delete(key);
      });
    this.#closing.set(key, closing);
  }

  async #tell(scope: ThreadScope, reason: ClosedThread["reason"]): Promise<void> {
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

  /** For the end of the process: what lives in it is closed, what lives on disk waits for the next start. */
  async stop(): Promise<void> {
    this.#stopSweeping();
    const scopes = [...this.#scopes.values()];
    this.#scopes.clear();
    await Promise.all(scopes.map((scope) => scope.refresh(0)));
    await Promise.all(scopes.map((scope) => scope.release()));
    await Promise.all(this.#closing.values());
  }
}
