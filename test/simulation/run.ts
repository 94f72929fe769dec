// Imported here, because the scheduler does not see a host's wait for a module to load.
import "../../packages/host/src/tool/mcp/mcp-source.ts";
import "../../packages/host/src/tool/rap/rap.ts";
import "../../packages/host/src/turn/mcp-sampling.ts";
import { it } from "vitest";
import { violationOf } from "../../packages/host/src/tool/json-schema-check.ts";
import { firstOf } from "../support/long-form.ts";
import { checkPhases } from "./turn-phases.ts";
import { World } from "./world.ts";

export type Scenario = (world: World) => Promise<void>;

export interface SimulateOptions {
  /**
   * The number of seeds, starting with 1. BOBBIN_SIM_SEEDS (a number, or `from-to`) and BOBBIN_SIM_SEED (one)
   * override it.
   */
  readonly count: number;
  /** The maximum number of seeds in the long form. */
  readonly full?: number;
}

/** A run that does not end within this many steps is considered endless. */
const MAX_STEPS = 200_000;

/** Defines a test that runs the scenario with many schedules. A failure names the seed that repeats it. */
export function simulate(name: string, options: SimulateOptions, scenario: Scenario): void {
  it(
    name,
    async () => {
      for (const seed of seeds(options)) await runSeed(seed, scenario);
    },
    // Each seed is limited by steps. This time limit only ends a test that hangs.
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

/** Runs one schedule. Throws a SimulationError. Returns values that distinguish runs. */
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
  // Awaited at the end; until then it must not count as unhandled.
  end.catch(() => {});
  await microtasks();
  while (!over) {
    step(world);
    await microtasks();
  }
  await end;
  // The watchdog of a host that was killed last may still be running.
  for (let steps = 0; world.processes.alive.length > 0 && steps < MAX_STEPS; steps++) {
    if (!world.scheduler.step()) break;
    await microtasks();
  }
  const left = world.processes.alive.map(({ name, argv }) => `${name} (${argv.join(" ")})`);
  if (left.length > 0) throw new Error(`processes are left: ${left.join(", ")}`);
  checkPhases(world.disk);
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

/** Resolves when all promises that can settle have settled, because a macrotask runs only then. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function* seeds({ count, full = count }: SimulateOptions): Generator<number> {
  const { BOBBIN_SIM_SEED: one, BOBBIN_SIM_SEEDS: many } = process.env;
  if (one !== undefined) yield Number(one);
  else if (many === undefined) yield* firstOf(range(1, full), Math.ceil(count / 5), 3 * count);
  else if (many.includes("-")) yield* range(...(many.split("-").map(Number) as [number, number]));
  else yield* range(1, Number(many));
}

function* range(first: number, last: number): Generator<number> {
  for (let seed = first; seed <= last; seed++) yield seed;
}
