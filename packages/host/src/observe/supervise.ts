import type { Log } from "./log.ts";

/** Takes promises that no caller awaits. Logs their failures, and can wait for all of them at shutdown. */
export class Supervisor {
  readonly #log: Log;
  readonly #pending = new Map<Promise<unknown>, string>();

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
    this.#pending.set(watched, what);
  }

  report(what: string, cause: unknown): void {
    this.#log.error(`${what} failed`, { cause });
  }

  /** The names of pending work. An equal name is listed once, with its count. */
  pending(): readonly string[] {
    const counts = new Map<string, number>();
    for (const what of this.#pending.values()) counts.set(what, (counts.get(what) ?? 0) + 1);
    return [...counts].map(([what, count]) => (count === 1 ? what : `${what} (${count} times)`));
  }

  /** Resolves when no work is pending. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending.keys());
  }
}
