import { expect, it } from "vitest";
import { CrossThreadWakeups } from "./cross-thread-wakeups.ts";

/** Whether each promise has resolved, after all callbacks have run. */
async function resolved(...promises: readonly Promise<void>[]): Promise<readonly boolean[]> {
  const done = promises.map(() => false);
  for (const [nth, promise] of promises.entries()) void promise.then(() => (done[nth] = true));
  await new Promise((resolve) => setImmediate(resolve));
  return done;
}

it("wakes all who wait for a thread, once, and nobody who waits for another one", async () => {
  const wakeups = new CrossThreadWakeups();
  const { signal } = new AbortController();
  const [one, two, other] = [wakeups.wait("a", signal), wakeups.wait("a", signal), wakeups.wait("b", signal)];
  wakeups.wake("a");
  expect(await resolved(one, two, other)).toEqual([true, true, false]);
  expect(await resolved(wakeups.wait("a", signal))).toEqual([false]);
});

it("lets go of who does not wait any more", async () => {
  const wakeups = new CrossThreadWakeups();
  const controller = new AbortController();
  const one = wakeups.wait("a", controller.signal);
  controller.abort();
  expect(await resolved(one, wakeups.wait("a", controller.signal))).toEqual([true, true]);
  wakeups.wake("a");
});
