// Loaded here: the scheduler does not see what a host waits for outside of it.
import "../../packages/host/src/tool/rap/rap.ts";
import { it } from "vitest";
import { violationOf } from "../../packages/host/src/tool/json-schema.ts";
import { World } from "./world.ts";

export type Scenario = (world: World) => Promise<void>;

export interface SimulateOptions {
  /** How many seeds, from 1 on. BOBBIN_SIM_SEEDS (a number, or `from-to`) and BOBBIN_SIM_SEED (one) override it. */
  readonly count: number;
  /** How many with BOBBIN_SIM_FULL=1; else as many as usual. */
  readonly full?: number;
}

/** A run that does not end by itself within this many steps is taken for one that never will. */
const MAX_STEPS = 200_000;

/** A test that runs the scenario under many schedules; a failure names the seed that repeats it. */
export function simulate(name: string, options: SimulateOptions, scenario: Scenario): void {
  it(
    name,
    async () => {
      for (const seed of seeds(options)) await runSeed(seed, scenario);
    },
    // The bound for a single seed is counted in steps; this one only stops a machine that is stuck.
    30 * 60_000,
  );
}

class SimulationError extends Error {
  constructor(seed: number, world: World, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const trace = world.scheduler.trace.map((line) => `    ${line}`).join("\n");
    super(`${why}\n  repeat it with BOBBIN_SIM_SEED=${seed}; what happened last:\n${trace}`, { cause });
    this.name = "SimulationError";
    if (cause instanceof Error && cause.stack !== undefined) {
      this.stack = `${this.name}: ${this.message}\n${cause.stack.slice(cause.stack.indexOf("\n    at ") + 1)}`;
    }
  }
}

/** One schedule; throws a SimulationError. Gives what tells two runs apart. */
export async function runSeed(seed: number, scenario: Scenario): Promise<string> {
  await violationOf({ type: "object" }, {});
  const world = new World(seed);
  const unhandled = (cause: unknown) => world.fail(new Error("unhandled rejection", { cause }));
  process.on("unhandledRejection", unhandled);
  try {
    await drive(world, scenario);
  } catch (cause) {
    throw new SimulationError(seed, world, cause);
  } finally {
    process.off("unhandledRejection", unhandled);
  }
  return world.scheduler.fingerprint;
}

async function drive(world: World, scenario: Scenario): Promise<void> {
  let over = false;
  const end = Promise.race([scenario(world), world.failed]).finally(() => {
    over = true;
  });
  // It is awaited once it is over; until then it must not count as unhandled.
  end.catch(() => {});
  await microtasks();
  while (!over) {
    step(world);
    await microtasks();
  }
  await end;
  // A host that was killed last has a watchdog that is still at work.
  for (let steps = 0; world.processes.alive.length > 0 && steps < MAX_STEPS; steps++) {
    if (!world.scheduler.step()) break;
    await microtasks();
  }
  const left = world.processes.alive.map(({ name, argv }) => `${name} (${argv.join(" ")})`);
  if (left.length > 0) throw new Error(`processes are left: ${left.join(", ")}`);
}

function step(world: World): void {
  const { scheduler } = world;
  try {
    if (scheduler.step()) {
      if (scheduler.steps > MAX_STEPS) world.fail(new Error(`no end after ${MAX_STEPS} steps`));
      return;
    }
  } catch (cause) {
    return world.fail(new Error("thrown out of a callback of the platform", { cause }));
  }
  const waiting = scheduler.waiting.join("; ") || "nothing that has a name";
  world.fail(new Error(`hangs: nothing is left that could happen, and it waits for: ${waiting}`));
}

/** Until every promise that could go on has gone on: a macrotask runs only then. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function seeds({ count, full = count }: SimulateOptions): readonly number[] {
  const one = process.env.BOBBIN_SIM_SEED;
  if (one !== undefined) return [Number(one)];
  const many = process.env.BOBBIN_SIM_SEEDS ?? String(process.env.BOBBIN_SIM_FULL === "1" ? full : count);
  const [first, last] = many.includes("-") ? many.split("-").map(Number) : [1, Number(many)];
  return Array.from({ length: last! - first! + 1 }, (_, at) => first! + at);
}
