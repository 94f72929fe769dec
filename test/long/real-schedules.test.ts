import { expect, it } from "vitest";
import { randomPlan } from "../model/acts.ts";
import { RealHost } from "../model/real-host.ts";
import { RealSchedule } from "../model/real-schedule.ts";
import { Random } from "../simulation/random.ts";
import { freshFolder } from "../support/folder.ts";
import { times } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";

const SCHEDULES = times(5, 30);
/** A home grows with what was done in it; then the next schedules get one of their own. */
const SCHEDULES_A_HOME = 5;
/** Some of them mean nothing when it is their turn. */
const STEPS = 24;

const seed = Number(process.env.BOBBIN_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`every client of a real host gets the notifications of the reference, in ${SCHEDULES} schedules (seed ${seed})`, {
  timeout: STUCK_MS,
}, async () => {
  process.stderr.write(`real hosts: ${SCHEDULES} schedules, BOBBIN_SEED=${seed}\n`);
  let acts = 0;
  for (let first = 0; first < SCHEDULES; first += SCHEDULES_A_HOME) acts += await runHome(seed + first);
  expect(acts).toBeGreaterThan(SCHEDULES * 5);
});

/** Several schedules on one home; gives how many acts they had. */
async function runHome(first: number): Promise<number> {
  const maxResident = new Random(first).pick([1, 2, 256]);
  const host = new RealHost(await freshFolder(), maxResident);
  await host.start();
  let acts = 0;
  for (let at = 0; at < SCHEDULES_A_HOME; at++) {
    const random = new Random(first + at);
    const schedule = new RealSchedule(host, random);
    try {
      await schedule.run(randomPlan(random, STEPS));
    } catch (cause) {
      throw failure(cause, first, at, schedule.done);
    }
    acts += schedule.done.length;
  }
  await host.stop();
  return acts;
}

/** Names the seed of the home: what was in it before may matter. */
function failure(cause: unknown, first: number, at: number, done: readonly string[]): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  const acts = done.map((act) => `    ${act}`).join("\n");
  const where = `repeat it with BOBBIN_SEED=${first}; the acts of its schedule ${at + 1}`;
  return new Error(`${why}\n  ${where}:\n${acts}`, { cause });
}
