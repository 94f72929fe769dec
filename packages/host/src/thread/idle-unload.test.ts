import { expect, it } from "vitest";
import type { Actor } from "./actor.ts";
import { Idle } from "./idle-unload.ts";

const DEADLINE_MS = 60_000;
const DELAY_MS = 10_000;

/** A manual clock, and a thread without subscribers. */
function stage() {
  let now = 0;
  const timers = new Set<{ readonly at: number; run(): void }>();
  const told: string[] = [];
  /** The parent thread, if there is one. */
  const above = {
    parent: undefined as { helpers: string[]; subscriptions: { retaining: number } } | undefined,
  };
  const thread = {
    id: "thread",
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
    clock: { now: () => now, monotonic: () => now },
    timers: {
      after(ms, run) {
        const timer = { at: now + ms, run };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
      soon: (run) => run(),
    },
    requestDeadlineMs: DEADLINE_MS,
    unload: () => told.push(`unloaded at ${now}`),
    presenceChanged: () => {},
    left: () => {},
    followed: () => {},
    parentOf: (one) => (one === actor ? (above.parent as unknown as Actor | undefined) : undefined),
    childrenOf: () => [],
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
  return { idle, actor, thread, above, timers, told, pass };
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

it("waits for its delay once, however often something changes", () => {
  const { idle, actor, timers, told, pass } = stage();
  idle.refused(actor, DELAY_MS);
  for (let at = 0; at < 10; at++) idle.consider(actor);
  expect(timers.size).toBe(1);
  pass(DELAY_MS);
  expect(told).toEqual([`unloaded at ${DELAY_MS}`]);
  expect(timers.size).toBe(0);
});

it("keeps a thread past its delay that asks something, and lets it go with the answer", () => {
  const { idle, actor, thread, timers, told, pass } = stage();
  thread.requests = [{ id: 1, at: 0 }];
  idle.refused(actor, DELAY_MS);
  pass(DEADLINE_MS);
  expect(told).toEqual([]);
  thread.requests = [];
  idle.consider(actor);
  expect(told).toEqual([`unloaded at ${DEADLINE_MS}`]);
  expect(timers.size).toBe(0);
});

it("leaves nothing armed behind when someone comes back", () => {
  const { idle, actor, timers } = stage();
  idle.refused(actor, DELAY_MS);
  expect(timers.size).toBe(1);
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

it("keeps an open helper as long as its parent has it", () => {
  const { idle, actor, above, told, pass } = stage();
  above.parent = { helpers: ["thread"], subscriptions: { retaining: 0 } };
  idle.forNobody(actor);
  pass(10 * DELAY_MS);
  expect(told).toEqual([]);
  above.parent = { helpers: [], subscriptions: { retaining: 1 } };
  idle.consider(actor);
  expect(told).toEqual([`unloaded at ${10 * DELAY_MS}`]);
});
