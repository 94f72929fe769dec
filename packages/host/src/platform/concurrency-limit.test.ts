import { expect, it } from "vitest";
import { eachFewAtOnce, FewAtOnce } from "./concurrency-limit.ts";

it("never exceeds the limit, even if a task is added between an end and the next start", async () => {
  const few = new FewAtOnce(2);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const run = (name: number): Promise<void> =>
    few.run(async () => {
      most = Math.max(most, ++running);
      order.push(name);
      await Promise.resolve();
      running--;
    });
  const late: Promise<void>[] = [];
  // A caller that reacts at once to the end of a task runs before the waiting tasks wake up.
  const first = [0, 1].map((name) => run(name).then(() => void late.push(run(name + 10))));
  await Promise.all([...first, ...[2, 3, 4, 5].map((name) => run(name))]);
  await Promise.all(late);
  expect(most).toBe(2);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 10, 11]);
});

it("frees the slot of a task that fails", async () => {
  const few = new FewAtOnce(1);
  const failing = few.run(() => Promise.reject(new Error("no")));
  const next = few.run(async () => "yes");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("yes");
  expect(await few.run(async () => "again")).toBe("again");
});

it("works on each of many items once, a few at once", async () => {
  let running = 0;
  let most = 0;
  const done: number[] = [];
  const items = async function* () {
    for (let at = 0; at < 20; at++) yield at;
  };
  await eachFewAtOnce(3, items(), async (item) => {
    most = Math.max(most, ++running);
    await new Promise((go) => setImmediate(go));
    running--;
    done.push(item);
  });
  expect(most).toBe(3);
  expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at));
});

it("starts no item after a failure, and settles when the started ones have", async () => {
  const begun: number[] = [];
  let running = 0;
  const all = eachFewAtOnce(2, Array.from({ length: 50 }).keys(), async (item) => {
    begun.push(item);
    running++;
    await new Promise((go) => setImmediate(go));
    running--;
    if (item === 3) throw new Error("no");
  });
  await expect(all).rejects.toThrow("no");
  expect(running).toBe(0);
  expect(begun.length).toBeLessThan(8);
});
