import type { Scope } from "@bobbin/protocol";

interface Lane {
  /** Resolves when everything before the next exclusive task is done. */
  tail: Promise<unknown>;
  /** Shared tasks since the last exclusive one: they run beside each other. */
  shared: Promise<unknown>[];
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
        return typeof threadId === "string" ? this.#enter(`thread ${threadId}`, false, task) : task();
      case "global":
        return this.#enter(`global ${scope.key}`, scope.shared, task);
    }
  }

  async #enter<T>(key: string, shared: boolean, task: () => Promise<T>): Promise<T> {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { tail: Promise.resolve(), shared: [], waiting: 0 };
      this.#lanes.set(key, lane);
    }
    lane.waiting++;
    const before = shared ? lane.tail : Promise.allSettled([lane.tail, ...lane.shared]);
    const result = before.then(task, task);
    const done = result.then(
      () => {},
      () => {},
    );
    if (shared) lane.shared.push(done);
    else {
      lane.tail = done;
      lane.shared = [];
    }
    try {
      return await result;
    } finally {
      if (--lane.waiting === 0) this.#lanes.delete(key);
    }
  }
}
