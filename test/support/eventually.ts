import { PATIENCE_MS, workedMs } from "./patience.ts";

const LOOK_EVERY_MS = 10;

/** Polls until `holds` is true: for changes that nothing notifies of. */
export async function eventually(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = workedMs() + PATIENCE_MS;
  while (!(await holds())) {
    if (workedMs() > end) throw new Error(`it never came to this in ${PATIENCE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Polls until a number has stayed the same for a while, and gives it: for work that ends without a notification. */
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
