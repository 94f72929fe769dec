import { runSeed } from "../simulation/run.ts";
import type { World } from "../simulation/world.ts";

/** A failed run of a plan. `done`: the acts that it performed. */
export interface Attempt<Step> {
  readonly done: readonly string[];
  run(plan: readonly Step[]): Promise<void>;
}

/** How often a failing plan is tried again with parts removed. */
const MAX_TRIES = 400;

/** Runs a plan with a seed. A failure is reported with the shortest failing list of acts that was found. */
export async function runPlan<Step>(
  seed: number,
  plan: readonly Step[],
  attempt: (world: World) => Attempt<Step>,
): Promise<void> {
  const failure = await tryPlan(seed, plan, attempt);
  if (failure === undefined) return;
  let shortest = { plan, failure };
  let tries = 0;
  for (let size = Math.ceil(plan.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < shortest.plan.length && tries < MAX_TRIES; tries++) {
      const shorter = shortest.plan.toSpliced(from, size);
      const still = await tryPlan(seed, shorter, attempt);
      if (still === undefined) from += size;
      else shortest = { plan: shorter, failure: still };
    }
  }
  const { cause, done } = shortest.failure;
  const acts = done.map((act) => `    ${act}`).join("\n");
  const why = new Error(`${cause.message}\n  the acts, as few as were found to fail:\n${acts}`, { cause });
  why.stack = `${why.name}: ${why.message}`;
  throw why;
}

async function tryPlan<Step>(
  seed: number,
  plan: readonly Step[],
  attempt: (world: World) => Attempt<Step>,
): Promise<{ readonly cause: Error; readonly done: readonly string[] } | undefined> {
  let done: readonly string[] = [];
  try {
    await runSeed(seed, async (world) => {
      const made = attempt(world);
      done = made.done;
      await made.run(plan);
    });
    return undefined;
  } catch (cause) {
    return { cause: cause as Error, done };
  }
}
