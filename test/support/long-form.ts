// The long forms of tests, which `.ci/run` has time for and `npm test` does not. BOBBIN_FULL=1 enables them;
// BOBBIN_FULL=10 makes them ten times as long.

const factor = Number(process.env.BOBBIN_FULL ?? 0);

/** Whether the long forms are enabled. */
export const LONG = factor > 0;

/** A number of repetitions: `short` in the short form, `long` in the long form. */
export function times(short: number, long: number): number {
  return LONG ? long * factor : short;
}

/** The first items: `short` many in the short form, `long` many in the long form. The same ones on every machine. */
export function* firstOf<Item>(items: Iterable<Item>, short: number, long: number): Generator<Item> {
  let left = times(short, long);
  for (const item of items) {
    if (left-- <= 0) return;
    yield item;
  }
}
