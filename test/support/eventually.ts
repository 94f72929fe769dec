import { PATIENCE_MS, workedMs } from "./patience.ts";

const LOOK_EVERY_MS = 10;
/** Taken before a test can replace it by a fake. */
const after = setTimeout;

/** Polls until `holds` is true. For changes without a notification. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  what: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const end = workedMs() + patienceMs;
  while (!(await holds())) {
    if (workedMs() > end) throw new Error(`it never came to this in ${patienceMs} ms: ${what}`);
    await new Promise((resolve) => after(resolve, LOOK_EVERY_MS));
  }
}

/** Repeats a check until it throws nothing. A check that never passes fails the test with its own error. */
export async function eventuallyPasses(check: () => unknown): Promise<void> {
  let failure: unknown;
  const passes = async (): Promise<boolean> => {
    try {
      await check();
      return true;
    } catch (error) {
      failure = error;
      return false;
    }
  };
  await eventually(passes, "the check passes").catch((late: unknown) => {
    throw failure ?? late;
  });
}

/** Polls until a number has not changed for a while, and returns it. For work that ends without a notification. */
export async function settled(read: () => number | Promise<number>): Promise<number> {
  let last = await read();
  let looks = 0;
  await eventually(async () => {
    const now = await read();
    looks = now === last ? looks + 1 : 0;
    last = now;
    return looks === 20;
  }, "it stands still");
  return last;
}
