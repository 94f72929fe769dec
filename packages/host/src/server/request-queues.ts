import type { Scope } from "@bobbin/protocol";
import { parseThreadId } from "../thread/thread-id.ts";

interface ScopeQueue {
  /** Resolves when the last exclusive task is done. */
  tail: Promise<unknown>;
  /** The running shared tasks that came after `tail`. */
  shared: SharedGroup | undefined;
  waiting: number;
}

/**
 * Orders requests. Requests of one scope run one after the other, in the order of arrival; requests of different
 * scopes run concurrently. A request leaves its queue when its promise settles.
 */
export class RequestQueues {
  readonly #queues = new Map<string, ScopeQueue>();

  run<T>(scope: Scope, threadId: unknown, task: () => Promise<T>): Promise<T> {
    switch (scope.by) {
      case "none":
        return task();
      case "thread":
        return this.#ofThread(threadId, task);
      case "global":
        return this.#enter(`global ${scope.key}`, scope.shared, task);
    }
  }

  /** The ID is normalized first. A request with an invalid ID is not queued; its handler refuses it. */
  #ofThread<T>(threadId: unknown, task: () => Promise<T>): Promise<T> {
    let id: string;
    try {
      id = parseThreadId(String(threadId));
    } catch {
      return task();
    }
    return this.#enter(`thread ${id}`, false, task);
  }

  async #enter<T>(key: string, shared: boolean, task: () => Promise<T>): Promise<T> {
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = { tail: Promise.resolve(), shared: undefined, waiting: 0 };
      this.#queues.set(key, queue);
    }
    queue.waiting++;
    try {
      return await (shared ? this.#runShared(queue, task) : this.#runExclusive(queue, task));
    } finally {
      if (--queue.waiting === 0) this.#queues.delete(key);
    }
  }

  #runExclusive<T>(queue: ScopeQueue, task: () => Promise<T>): Promise<T> {
    // The shared tasks began after `tail` was done, so only they have to be awaited.
    const result = (queue.shared?.over ?? queue.tail).then(task);
    queue.tail = result.catch(() => {});
    queue.shared = undefined;
    return result;
  }

  async #runShared<T>(queue: ScopeQueue, task: () => Promise<T>): Promise<T> {
    const group = queue.shared ?? new SharedGroup();
    queue.shared = group;
    group.enter();
    try {
      await queue.tail;
      return await task();
    } finally {
      // Later tasks begin a new group.
      if (group.leave() && queue.shared === group) queue.shared = undefined;
    }
  }
}

/** A group of shared tasks that run concurrently: their number, and a promise for the end of the last one. */
class SharedGroup {
  readonly over: Promise<void>;
  #end!: () => void;
  #count = 0;

  constructor() {
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  enter(): void {
    this.#count++;
  }

  /** Called when a task has ended. Returns true if no task of the group is left. */
  leave(): boolean {
    if (--this.#count > 0) return false;
    this.#end();
    return true;
  }
}
