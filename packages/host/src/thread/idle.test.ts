import { expect, it } from "vitest";
import type { Actor } from "./actor.ts";
import { Idle } from "./idle.ts";

const DEADLINE_MS = 60_000;
const DELAY_MS = 10_000;

/** A clock that is moved by hand, and a thread that nobody follows. */
function stage(requestDeadlineMs = DEADLINE_MS) {
  let now = 0;
  let skew = 0;
  const timers = new Set<{ readonly at: number; run(): void }>();
  const told: string[] = [];
  const thread = {
    activeTurn: undefined as string | undefined,
    busy: false,
    live: false,
    waits: false,
    broken: false,
    visited: false,
    requests: [] as { id: number; at: number }[],
    subscriptions: { size: 0, retaining: 0 },
  };
  const actor = thread as unknown as Actor;
  const idle = new Idle({
    clock: { now: () => now + skew, monotonic: () => now },
    timers: {
      after(ms, run) {
        const timer = { at: now + ms, run };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
      soon: (run) => run(),
    },
    requestDeadlineMs,
    unload: () => told.push(`unloaded at ${now}`),
    expire: (_actor, id) => {
      told.push(`question ${id} expired at ${now}`);
      thread.requests = thread.requests.filter((request) => request.id !== id);
      idle.consider(actor);
    },
    left: () => {},
  });
  const pass = (ms: number): void => {
    const until = now + ms;
    for (;;) {
      const due = [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      timers.delete(due);
      now = due.at;
      due.run();
    }
    now = until;
  };
  const setClock = (ms: number): void => {
    skew = ms;
  };
  return { idle, actor, thread, timers, told, pass, setClock };
}

it("unloads a thread after its delay when its question was answered meanwhile", () => {
  const { idle, actor, thread, timers, told, pass } = stage();
  thread.requests = [{ id: 1, at: 0 }];
  idle.refused(actor, DELAY_MS);
  pass(1000);
  thread.requests = [];
  idle.consider(actor);
  expect(timers.size).toBe(1);
  pass(DEADLINE_MS);
  expect(told).toEqual([`unloaded at ${DELAY_MS}`]);
});

it("waits for one thing at a time, however often something changes", () => {
  const { idle, actor, thread, timers, told, pass } = stage();
  thread.requests = [{ id: 1, at: 0 }];
  idle.refused(actor, DELAY_MS);
  for (let at = 0; at < 10; at++) idle.consider(actor);
  expect(timers.size).toBe(1);
  pass(DEADLINE_MS);
  expect(told).toEqual([`question 1 expired at ${DEADLINE_MS}`, `unloaded at ${DEADLINE_MS}`]);
  expect(timers.size).toBe(0);
});

it("leaves nothing armed behind when someone comes back", () => {
  const { idle, actor, thread, timers } = stage();
  thread.requests = [{ id: 1, at: 0 }];
  idle.refused(actor, DELAY_MS);
  idle.consider(actor);
  idle.forget(actor);
  expect(timers.size).toBe(0);
});

it("does not wait for the turn of a thread whose journal has failed, but for what it waits for", () => {
  for (const [waits, expected] of [
    [false, [`unloaded at ${DEADLINE_MS + DELAY_MS}`]],
    [true, []],
  ] as const) {
    const { idle, actor, thread, told, pass } = stage();
    Object.assign(thread, { activeTurn: "t", busy: true, waits });
    idle.refused(actor, DELAY_MS);
    pass(DEADLINE_MS);
    expect(told).toEqual([]);
    thread.broken = true;
    idle.consider(actor);
    pass(DELAY_MS);
    expect(told).toEqual(expected);
  }
});

it.each([-1e12, -30_000, 30_000, 1e12])(
  "counts a question's deadline alike when the clock is set by %i ms",
  (ms) => {
    const { idle, actor, thread, told, pass, setClock } = stage();
    thread.waits = true;
    thread.requests = [{ id: 1, at: 0 }];
    pass(5000);
    idle.refused(actor, DELAY_MS);
    pass(10_000);
    setClock(ms);
    thread.requests.push({ id: 2, at: 15_000 + ms });
    idle.consider(actor);
    pass(10_000);
    setClock(0);
    idle.consider(actor);
    pass(DEADLINE_MS);
    expect(told).toEqual([
      `question 1 expired at ${DEADLINE_MS + 5000}`,
      `question 2 expired at ${DEADLINE_MS + 15_000}`,
    ]);
  },
);

it.each([
  ["long ago", -1e12, 60_000],
  ["five seconds ago", -5000, 10 * DEADLINE_MS - 5000],
  ["in the future", 1e12, 10 * DEADLINE_MS],
])("leaves clients a minute or more to answer what was asked %s, before a restart", (_, at, expires) => {
  const { idle, actor, thread, told, pass } = stage(10 * DEADLINE_MS);
  thread.waits = true;
  thread.requests = [{ id: 1, at }];
  idle.adopted(actor, DELAY_MS);
  pass(20 * DEADLINE_MS);
  expect(told).toEqual([`question 1 expired at ${expires}`]);
});
