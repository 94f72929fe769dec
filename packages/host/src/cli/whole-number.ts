import { InvalidArgumentError } from "commander";

/** Creates a parser for option values that must be whole numbers of at least `least`. */
export function wholeNumber(least: number): (given: string) => number {
  return (given) => {
    const value = /^\d{1,6}$/.test(given) ? Number(given) : Number.NaN;
    if (!(value >= least)) throw new InvalidArgumentError(`It is no whole number from ${least} on.`);
    return value;
  };
}
