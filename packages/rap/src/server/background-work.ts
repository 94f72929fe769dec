import { errorText, type Log } from "./log.ts";

/** Runs work that no caller awaits. Logs its failures, and lets a shutdown wait until all of it has ended. */
export class BackgroundWork {
  readonly #running = new Set<Promise<void>>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Never rejects. `what` names the work in the log, as the subject of "… failed". */
  run(what: string, work: () => Promise<void>): Promise<void> {
    const running = work()
      .catch((error: unknown) =>
        this.#log({ level: "error", says: `${what} failed`, error: errorText(error) }),
      )
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  /** Resolves when no work is running, including work that starts while this waits. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
