import { describe, it } from "vitest";
import { Random } from "../simulation/random.ts";
import { seeds } from "../simulation/run.ts";
import { STUCK_MS } from "../support/patience.ts";
import { CLIENT_KINDS } from "./acts.ts";
import { Concurrent, type Life } from "./concurrent.ts";
import { runPlan } from "./shrink.ts";

describe("concurrent clients", () => {
  it(
    "no invariant is broken, in any order and however hosts end",
    async () => {
      for (const seed of seeds({ count: 30, full: 3000 })) {
        await runPlan(seed, randomLives(new Random(seed)), (world) => new Concurrent(world));
      }
    },
    STUCK_MS,
  );

  it(
    "on a disk that fails now and then, nothing that a client was sent is lost",
    async () => {
      for (const seed of seeds({ count: 25, full: 2000 })) {
        await runPlan(
          seed,
          randomLives(new Random(seed)),
          (world) => new Concurrent(world, { failing: true }),
        );
      }
    },
    STUCK_MS,
  );
});

function randomLives(random: Random): readonly Life[] {
  const number = () => random.below(1_000_000);
  return Array.from({ length: random.between(2, 7) }, () => ({
    kind: random.below(CLIENT_KINDS.length),
    asks: Array.from({ length: random.between(2, 8) }, () => [number(), number(), number()] as const),
    end: random.pick(["stay", "leave", "cut"] as const),
  }));
}
