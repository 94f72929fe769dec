/** A check took more steps than anybody should wait for. */
export class TooMuchWork extends Error {
  override readonly name = "TooMuchWork";
}

/** How many may stand in each other, schemas or values: a stack holds so many with room to spare. */
export const DEEPEST = 500;

/**
 * What one check may cost, in steps. Schemas and arguments are written by strangers, and a few lines of either can ask
 * for more steps than there is time.
 */
export class Work {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork("it takes too much work");
  }
}
