import type { Log } from "./log.ts";

/** Where work goes that nobody awaits: what it throws is logged, and at the end it can be waited for. */
export class Supervisor {
  readonly #log: Log;
  readonly #pending = new Set<Promise<unknown>>();

  constructor(log: Log) {
    this.#log = log;
  }

  take(what: string, work: Promise<unknown>): void {
    const watched: Promise<unknown> = work.then(
      () => this.#pending.delete(watched),
      (cause) => {
        this.#pending.delete(watched);
        this.report(what, cause);
      },
    );
    this.#pending.add(watched);
  }

  report(what: string, cause: unknown): void {
    this.#log.error(`${what} failed`, { cause });
  }

  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }
}
