import { expect, it } from "vitest";
import { LockJobQueue } from "./lock-job-queue.ts";

function stage(hold = (work: () => Promise<void>) => work()) {
  let holds = 0;
  const lock = new LockJobQueue((work) => {
    holds++;
    return hold(work);
  });
  return { lock, holds: () => holds };
}

it("is taken once for all jobs that come while it is held, and runs them one after the other", async () => {
  const { lock, holds } = stage();
  let running = 0;
  let most = 0;
  const jobs = Array.from({ length: 50 }, (_, at) =>
    lock.run(async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return at;
    }),
  );
  expect(await Promise.all(jobs)).toEqual(Array.from({ length: 50 }, (_, at) => at));
  expect([holds(), most]).toEqual([1, 1]);
});

it("is let go of now and then, so that other processes get it", async () => {
  const { lock, holds } = stage();
  await Promise.all(Array.from({ length: 200 }, () => lock.run(async () => {})));
  expect(holds()).toBe(4);
  await lock.run(async () => {});
  expect(holds()).toBe(5);
});

it("tells each job of its own failure, and all that wait that it cannot be taken", async () => {
  let broken = true;
  const { lock } = stage((work) => (broken ? Promise.reject(new Error("EIO")) : work()));
  const told = await Promise.allSettled([lock.run(async () => 1), lock.run(async () => 2)]);
  expect(told).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  broken = false;
  const own = await Promise.allSettled([
    lock.run(() => Promise.reject(new Error("own"))),
    lock.run(async () => "fine"),
  ]);
  expect(own).toMatchObject([{ status: "rejected" }, { status: "fulfilled", value: "fine" }]);
});
