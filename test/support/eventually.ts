const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 10;

/** For what tells nobody when it happens: looks until it holds. */
export async function eventually(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`it never came to this in ${PATIENCE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Resolves when a number has stood still for a while: for what stops without telling anyone. */
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
