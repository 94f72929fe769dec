import { expect, it } from "vitest";
import { FewAtOnce } from "./few-at-once.ts";

it("runs a few at once and never more, also when someone comes between an end and the next beginning", async () => {
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
  // Whoever hears of the end at once is quicker than those who are woken by it.
  const first = [0, 1].map((name) => run(name).then(() => void late.push(run(name + 10))));
  await Promise.all([...first, ...[2, 3, 4, 5].map((name) => run(name))]);
  await Promise.all(late);
  expect(most).toBe(2);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 10, 11]);
});

it("gives the place on when work fails", async () => {
  const few = new FewAtOnce(1);
  const failing = few.run(() => Promise.reject(new Error("no")));
  const next = few.run(async () => "yes");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("yes");
  expect(await few.run(async () => "again")).toBe("again");
});
