import type { Liveness } from "../../packages/host/src/platform/platform.ts";
import type { Disk } from "./disk.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/** The locks of all hosts of a world. A dead host holds none. */
export class Locks {
  readonly #holders = new Map<string, Owner>();
  /** For each path, the holder of the lock and the waiting hosts. */
  readonly #queues = new Map<string, Turn[]>();
  /** Whether the file system is a network file system. */
  overNetwork = false;

  /** The locks as one host sees them. */
  of(owner: Owner, scheduler: Scheduler, disk: Disk): Liveness {
    const later = <T>(what: string, path: string, work: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        scheduler.post(
          `${owner.name} locks`,
          `${what} ${path}`,
          () => {
            try {
              resolve(work());
            } catch (cause) {
              reject(cause as Error);
            }
          },
          owner,
        );
      });
    return {
      announce: (path) =>
        later("announce", path, () => {
          if (this.overNetwork) throw Object.assign(new Error("over the network"), { code: "ENETFS" });
          this.#holders.set(path, owner);
          // Others see by this file that there is a host.
          disk.put(path, "");
          return () =>
            later("release", path, () => {
              this.#holders.delete(path);
              disk.remove(path);
            });
        }),
      alive: (path) =>
        later("alive", path, () => {
          const holder = this.#holders.get(path);
          return holder?.alive === true && holder !== owner;
        }),
      exclusively: async (path, work) => {
        const turn = await this.#turn(path, owner);
        try {
          await later("enter", path, () => {});
          return await work();
        } finally {
          this.#leave(path, turn);
        }
      },
    };
  }

  /** Releases the locks of a dead host. */
  drop(owner: Owner): void {
    for (const [path, queue] of this.#queues) {
      for (const turn of queue.filter((one) => one.owner === owner)) this.#leave(path, turn);
    }
  }

  #turn(path: string, owner: Owner): Promise<Turn> {
    const queue = this.#queues.get(path) ?? [];
    this.#queues.set(path, queue);
    return new Promise((resolve) => {
      const turn: Turn = { owner, enter: () => resolve(turn) };
      // A dead host never gets a lock.
      if (owner.alive) queue.push(turn);
      if (queue[0] === turn) turn.enter();
    });
  }

  #leave(path: string, turn: Turn): void {
    const queue = this.#queues.get(path)!;
    const at = queue.indexOf(turn);
    if (at >= 0) queue.splice(at, 1);
    if (at === 0) queue[0]?.enter();
  }
}

interface Turn {
  readonly owner: Owner;
  readonly enter: () => void;
}
