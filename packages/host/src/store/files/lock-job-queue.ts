interface Job {
  run(): Promise<void>;
  fail(cause: unknown): void;
}

/** Limit on the jobs per acquisition of the lock, so that other processes get the lock, too. */
const MAX_JOBS = 64;

/**
 * One lock for many jobs of this process. Jobs that arrive while the lock is held run under the same acquisition, one
 * after the other: acquiring the lock takes longer than most jobs, and jobs of one process must not compete for it.
 */
export class LockJobQueue {
  /** Runs work while this process holds the lock. */
  readonly #hold: (work: () => Promise<void>) => Promise<void>;
  readonly #jobs: Job[] = [];
  #running = false;

  constructor(hold: (work: () => Promise<void>) => Promise<void>) {
    this.#hold = hold;
  }

  /** Runs a job under the lock. Not reentrant: a job must not call `run`. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ run: () => work().then(resolve, reject), fail: reject });
      // `#runAll` passes its failure to the jobs.
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
