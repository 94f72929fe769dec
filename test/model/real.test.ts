import { expect, it } from "vitest";
import { Random } from "../simulation/random.ts";
import { freshFolder } from "../support/folder.ts";
import { randomPlan } from "./acts.ts";
import { RealHost } from "./real-host.ts";
import { RealSchedule } from "./real-schedule.ts";

const FULL = process.env.BOBBIN_FULL === "1";
const SCHEDULES = FULL ? 200 : 10;
/** A home grows with what was done in it; then the next schedules get one of their own. */
const SCHEDULES_A_HOME = 5;
const ACTS = 14;

const seed = Number(process.env.BOBBIN_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`every client of a real host is told what the reference says, in ${SCHEDULES} schedules (seed ${seed})`, {
  timeout: FULL ? 900_000 : 120_000,
}, async () => {
  process.stderr.write(`real hosts: ${SCHEDULES} schedules, BOBBIN_SEED=${seed}\n`);
  let acts = 0;
  for (let first = 0; first < SCHEDULES; first += SCHEDULES_A_HOME) {
    const maxResident = new Random(seed + first).pick([1, 2, 256]);
    const host = new RealHost(await freshFolder(), maxResident);
    await host.start();
    for (let at = first; at < first + SCHEDULES_A_HOME; at++) acts += await runSchedule(host, seed + at);
    await host.stop();
  }
  expect(acts).toBeGreaterThan(SCHEDULES * 5);
});

/** How many acts it had. */
async function runSchedule(host: RealHost, one: number): Promise<number> {
  const random = new Random(one);
  const schedule = new RealSchedule(host);
  try {
    await schedule.run(randomPlan(random, ACTS), random);
    return schedule.done.length;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const acts = schedule.done.map((act) => `    ${act}`).join("\n");
    throw new Error(`${why}\n  repeat it with BOBBIN_SEED=${one}; the acts:\n${acts}`, { cause });
  }
}
