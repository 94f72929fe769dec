import { type Log, told } from "./log.ts";

/** Where work is handed to that nobody waits for: what fails in it is logged, and an end can wait for it. */
export class Background {
  readonly #running = new Set<Promise<void>>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  run(what: string, work: () => Promise<void>): Promise<void> {
    const running = work()
      .catch((error: unknown) => this.#log({ level: "error", says: `${what} failed`, error: told(error) }))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  /** Resolves when nothing runs any more, including what is begun meanwhile. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
