import { expect, it } from "vitest";
import type { Actor } from "./actor.ts";
import { HibernationOrder } from "./hibernation-order.ts";

function threads(count: number, sleeps: (nth: number) => boolean) {
  const asleep: number[] = [];
  let asked = 0;
  const actors = Array.from({ length: count }, (_, nth) => ({
    hibernate() {
      asked++;
      if (!sleeps(nth)) return false;
      asleep.push(nth);
      return true;
    },
  }));
  return { actors: actors as unknown as Actor[], asleep, asked: () => asked };
}

it("sends those to sleep that were touched longest ago", () => {
  const residents = new HibernationOrder(2);
  const { actors, asleep } = threads(4, () => true);
  for (const actor of actors) residents.touch(actor);
  expect([asleep, residents.size]).toEqual([[0, 1], 2]);
  residents.touch(actors[2]!);
  residents.touch(actors[0]!);
  expect(asleep).toEqual([0, 1, 3]);
});

it("passes over those that are at work, and does not ask a crowd of them each time", () => {
  const residents = new HibernationOrder(10);
  const { actors, asleep, asked } = threads(1000, (nth) => nth === 500);
  for (const actor of actors) residents.touch(actor);
  expect(asked()).toBeLessThan(10_000);
  // The only thread that can hibernate is found among all others.
  expect(asleep).toEqual([500]);
});
