import type { Cancel, Timers } from "../../platform/platform.ts";

/**
 * The timeout of a call. Each progress notification restarts it, and it is suspended while a user answers a question.
 */
export class CallTimeout {
  readonly #timers: Timers;
  readonly #ms: number;
  readonly #over: () => void;
  #cancel: Cancel | undefined;
  #questions = 0;

  constructor(timers: Timers, ms: number, over: () => void) {
    this.#timers = timers;
    this.#ms = ms;
    this.#over = over;
    this.renew();
  }

  renew(): void {
    this.#cancel?.();
    this.#cancel = this.#questions > 0 ? undefined : this.#timers.after(this.#ms, this.#over);
  }

  async during<T>(question: () => Promise<T>): Promise<T> {
    this.#questions++;
    this.renew();
    try {
      return await question();
    } finally {
      this.#questions--;
      if (this.#questions === 0) this.renew();
    }
  }

  end(): void {
    this.#cancel?.();
    // A question that ends after its call must not start the timer again.
    this.#questions = Number.POSITIVE_INFINITY;
  }
}
