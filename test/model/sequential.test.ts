import { describe, it } from "vitest";
import { Random } from "../simulation/random.ts";
import { seeds } from "../simulation/run.ts";
import { STUCK_MS } from "../support/patience.ts";
import { randomPlan } from "./acts.ts";
import { Sequential } from "./sequential.ts";
import { runPlan } from "./shrink.ts";

describe("sequential requests", () => {
  it(
    "every client gets exactly the notifications of the reference",
    async () => {
      for (const seed of seeds({ count: 80, full: 3000 })) {
        const plan = randomPlan(new Random(seed), 30);
        await runPlan(seed, plan, (world) => new Sequential(world));
      }
    },
    STUCK_MS,
  );
});
