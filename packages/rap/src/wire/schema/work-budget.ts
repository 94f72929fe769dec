/** A check exceeded its work budget or the depth limit. */
export class TooMuchWork extends Error {
  override readonly name = "TooMuchWork";
}

/** Limit on the nesting of schemas and values, well below the depth at which the call stack overflows. */
export const MAX_DEPTH = 500;

/**
 * The number of steps that one check may take. Schemas and arguments are untrusted, and a few lines of either can
 * demand an unbounded amount of work.
 */
export class WorkBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork("it takes too much work");
  }
}
