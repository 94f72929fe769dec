import type { Liveness } from "../../packages/host/src/platform/platform.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/** Who holds which lock: a host that dies holds none. One for a whole world. */
export class Locks {
  readonly #holders = new Map<string, Owner>();
  readonly #waiting = new Map<string, Promise<unknown>>();
  /** The file system is one of other machines, too. */
  overNetwork = false;

  /** The locks as one host sees them. */
  of(owner: Owner, scheduler: Scheduler): Liveness {
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
          return () => later("release", path, () => void this.#holders.delete(path));
        }),
      alive: (path) =>
        later("alive", path, () => {
          const holder = this.#holders.get(path);
          return holder?.alive === true && holder !== owner;
        }),
      exclusively: async (path, work) => {
        const before = this.#waiting.get(path);
        const done = (async () => {
          // A holder that died while it worked is waited for no longer.
          if (this.#holders.get(path)?.alive) await before;
          this.#holders.set(path, owner);
          await later("enter", path, () => {});
          return work();
        })();
        this.#waiting.set(
          path,
          done.catch(() => {}),
        );
        return done;
      },
    };
  }
}
