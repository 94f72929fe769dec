interface Job {
  run(): Promise<void>;
  fail(cause: unknown): void;
}

/** Jobs under one hold of the lock; then other processes get their chance. */
const MAX_JOBS = 64;

/**
 * One lock for many jobs of this process: those that come while it is held run under the same hold, one after the
 * other. Taking the lock costs more than most jobs, and jobs of one process must not poll for it against each other.
 */
export class SharedLock {
  /** Runs work while no other process holds the lock. */
  readonly #hold: (work: () => Promise<void>) => Promise<void>;
  readonly #jobs: Job[] = [];
  #running = false;

  constructor(hold: (work: () => Promise<void>) => Promise<void>) {
    this.#hold = hold;
  }

  /** Not from within another job: it would wait for itself. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ run: () => work().then(resolve, reject), fail: reject });
      // Tells the jobs of its failure.
      if (!this.#running) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#running = true;
    while (this.#jobs.length > 0) {
      try {
        await this.#hold(async () => {
          for (let left = MAX_JOBS; left > 0 && this.#jobs.length > 0; left--)
            await this.#jobs.shift()!.run();
        });
      } catch (cause) {
        for (const { fail } of this.#jobs.splice(0)) fail(cause);
      }
    }
    this.#running = false;
  }
}
