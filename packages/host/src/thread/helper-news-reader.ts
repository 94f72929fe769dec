import { findHelper, isAtWork } from "../core/children/helper-thread-state.ts";
import { Fault } from "../errors.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import type { Actor } from "./actor.ts";
import { readThread } from "./child-effect-performer.ts";
import { type CrossThreadWakeups, LOOK_AGAIN_MS } from "./cross-thread-wakeups.ts";
import { type CommitNews, newsAfter, resultsOnly } from "./helper-news.ts";
import type { Registry } from "./registry.ts";

export interface HelperNewsPorts {
  readonly registry: Registry;
  readonly platform: Pick<Platform, "clock" | "timers">;
  readonly supervisor: Supervisor;
  /** Makes all stored data of a thread durable. */
  sync(threadId: string): Promise<void>;
}

/**
 * The delay before an unreadable journal of a helper is read again, multiplied by the number of the attempt; and the
 * limit on attempts.
 */
const AGAIN_MS = 1000;
const READINGS = 5;

/**
 * Reads the journals of helpers for their parents, and submits the news to the parents. A parent records the last
 * commit that it has read, so that a new host continues from there after a crash.
 */
export class HelperNewsReader {
  readonly #ports: HelperNewsPorts;
  /** Wakes when a helper has made a commit that may contain news. */
  readonly #wakeups: CrossThreadWakeups;
  /** The running reads of helpers' journals. `again`: a new commit came during the read. */
  readonly #readers = new Map<string, { again: boolean; readonly done: Promise<void> }>();

  constructor(ports: HelperNewsPorts, wakeups: CrossThreadWakeups) {
    this.#ports = ports;
    this.#wakeups = wakeups;
  }

  /**
   * Reads a helper's journal at each wakeup, and now and then while the helper works in another host. A failed read is
   * repeated a few times, and again at the next wakeup.
   */
  async follow(parentId: string, childId: string, signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      // Registered before the read, so that a commit during the read is not missed.
      const wakeup = this.#wakeups.wait(childId, signal);
      try {
        await this.read(parentId, childId);
        failures = 0;
        const lookAgain = (await this.#worksElsewhere(parentId, childId))
          ? this.#ports.platform.timers.after(LOOK_AGAIN_MS, () => this.#wakeups.wake(childId))
          : undefined;
        await wakeup;
        lookAgain?.();
      } catch (cause) {
        this.#ports.supervisor.report(`helper ${childId}`, cause);
        await (++failures < READINGS ? this.#pause(failures * AGAIN_MS, signal) : wakeup);
      }
    }
  }

  /**
   * Whether a helper works, but not in this host: two hosts that started after a crash may have taken over a parent
   * and its helper.
   */
  async #worksElsewhere(parentId: string, childId: string): Promise<boolean> {
    const { registry } = this.#ports;
    const parent = registry.get(parentId);
    if (parent === undefined || registry.get(childId) !== undefined) return false;
    const helper = findHelper((await parent.peek()).helpers, childId);
    return helper !== undefined && helper.start === null && isAtWork(helper);
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        cancel();
        signal.removeEventListener("abort", over);
        resolve();
      };
      const cancel = this.#ports.platform.timers.after(ms, over);
      signal.addEventListener("abort", over, { once: true });
      if (signal.aborted) over();
    });
  }

  /** Submits the news in a helper's journal to its loaded parent. Concurrent calls share one reader. */
  read(parentId: string, childId: string): Promise<void> {
    const known = this.#readers.get(childId);
    if (known !== undefined) {
      known.again = true;
      return known.done;
    }
    const reader = { again: false, done: Promise.resolve() };
    reader.done = (async () => {
      try {
        do {
          reader.again = false;
          await this.#readOnce(parentId, childId);
        } while (reader.again);
      } finally {
        this.#readers.delete(childId);
      }
    })();
    this.#readers.set(childId, reader);
    return reader.done;
  }

  async #readOnce(parentId: string, childId: string): Promise<void> {
    const parent = this.#ports.registry.get(parentId);
    if (parent?.helpers.includes(childId)) await this.#submitNews(parent, childId, (news) => news);
  }

  /** Submits the results of a helper to its parent, without the helper's end. */
  submitResults(parent: Actor, childId: string): Promise<void> {
    return this.#submitNews(parent, childId, resultsOnly);
  }

  async #submitNews(
    parent: Actor,
    childId: string,
    changed: (news: CommitNews) => CommitNews,
  ): Promise<void> {
    const { registry, platform, sync } = this.#ports;
    try {
      const { helpers } = await parent.peek();
      const helper = findHelper(helpers, childId);
      if (helper === undefined || helper.start !== null) return;
      const news = await readThread(registry, childId, (journal) => all(newsAfter(journal, helper.heard)));
      // The helper's journal is synced first: the parent must not record news that a power cut could undo.
      if (news?.length !== 0 && news !== undefined && !parent.ephemeral) await sync(childId);
      const gone = { seq: helper.heard + 1, taken: [], states: [], closed: true };
      for (const one of news ?? [gone])
        await parent.submit({ kind: "hearHelper", at: platform.clock.now(), childId, ...changed(one) });
    } catch (cause) {
      // These errors mean that the parent is unloaded, or about to be.
      if (!(cause instanceof Fault) || cause.code === "storageFailed") throw cause;
    }
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
