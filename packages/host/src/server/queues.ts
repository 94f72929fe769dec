import type { Scope } from "@bobbin/protocol";
import { parseThreadId } from "../thread/thread-id.ts";

interface Lane {
  /** Resolves when the last exclusive task is done. */
  tail: Promise<unknown>;
  /** Shared tasks since then that are not done: they run beside each other. */
  shared: Beside | undefined;
  waiting: number;
}

/**
 * Whose turn it is: requests of one scope are taken in the order in which they came, those of different scopes
 * beside each other. A task holds its place until its promise settles.
 */
export class Queues {
  readonly #lanes = new Map<string, Lane>();

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

  /** However its id is written. What is no id is no thread's: the task itself says so. */
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
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { tail: Promise.resolve(), shared: undefined, waiting: 0 };
      this.#lanes.set(key, lane);
    }
    lane.waiting++;
    try {
      return await (shared ? this.#beside(lane, task) : this.#alone(lane, task));
    } finally {
      if (--lane.waiting === 0) this.#lanes.delete(key);
    }
  }

  #alone<T>(lane: Lane, task: () => Promise<T>): Promise<T> {
    // Shared ones began after the tail: when they are done, so is it.
    const result = (lane.shared?.over ?? lane.tail).then(task);
    lane.tail = result.catch(() => {});
    lane.shared = undefined;
    return result;
  }

  async #beside<T>(lane: Lane, task: () => Promise<T>): Promise<T> {
    const group = lane.shared ?? new Beside();
    lane.shared = group;
    group.enter();
    try {
      await lane.tail;
      return await task();
    } finally {
      // Whoever comes later begins a new group, also if nobody waits for the end of this one.
      if (group.leave() && lane.shared === group) lane.shared = undefined;
    }
  }
}

/** Tasks that run beside each other: how many, and when the last of them is done; not each of them. */
class Beside {
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

  /** True if it was the last one. */
  leave(): boolean {
    if (--this.#count > 0) return false;
    this.#end();
    return true;
  }
}
