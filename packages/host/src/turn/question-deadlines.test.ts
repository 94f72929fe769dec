import { expect, it } from "vitest";
import { newThread } from "../../../../test/support/test-thread.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import { Supervisor } from "../observe/supervise.ts";
import type { Actor } from "../thread/actor.ts";
import { Idle } from "../thread/idle-unload.ts";
import { ActiveRunners } from "./active-runners.ts";
import type { RunnerPorts } from "./runner.ts";

const DEADLINE_MS = 60_000;
const DELAY_MS = 10_000;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A manual clock, a thread with a pending request, and its runners. */
function stage(requestDeadlineMs = DEADLINE_MS) {
  let now = 0;
  let skew = 0;
  const timers = new Set<{ readonly at: number; run(): void }>();
  const told: string[] = [];
  /** The parent thread, if there is one. */
  const above = {
    parent: undefined as { helpers: string[]; subscriptions: { retaining: number } } | undefined,
  };
  const thread = {
    id: "thread",
    waits: true,
    gone: false,
    requests: [] as { id: number; at: number }[],
    subscriptions: { size: 0, retaining: 0, add: () => void thread.subscriptions.retaining++ },
    offer({ requestId, answer }: { requestId: number; answer: { kind: string } }) {
      told.push(`question ${requestId} ${answer.kind} at ${now}`);
      thread.requests = thread.requests.filter((request) => request.id !== requestId);
      changed();
    },
  };
  const actor = thread as unknown as Actor;
  const platform = {
    clock: { now: () => now + skew, monotonic: () => now },
    timers: {
      after(ms: number, run: () => void) {
        const timer = { at: now + ms, run };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
      soon: (run: () => void) => run(),
    },
  };
  const idle: Idle = new Idle({
    ...platform,
    requestDeadlineMs,
    unload: () => {},
    presenceChanged: (one) => runners.presenceChanged(one),
    left: () => {},
    followed: () => {},
    parentOf: (one) => (one === actor ? (above.parent as unknown as Actor | undefined) : undefined),
    childrenOf: () => [],
  });
  const ports = { platform, supervisor: new Supervisor(SILENT) } as unknown as RunnerPorts;
  const runners = new ActiveRunners(ports, (one) => idle.presenceOf(one));
  /** Calls the observers as after a commit. */
  const changed = (): void => {
    const requests = thread.requests as unknown as readonly PendingRequest[];
    runners.goOn(actor, { ...newThread(), status: { type: "idle" }, requests });
    idle.consider(actor);
  };
  const pass = async (ms: number): Promise<void> => {
    const until = now + ms;
    for (;;) {
      const due = [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      timers.delete(due);
      now = due.at;
      due.run();
      await settled();
    }
    now = until;
  };
  const setClock = (ms: number): void => {
    skew = ms;
  };
  return { idle, runners, actor, thread, above, timers, told, pass, setClock, changed };
}

/** Lets promises settle after a timer has fired. */
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

it("waits for each question once, however often something changes, and for none when someone comes back", async () => {
  const { idle, actor, thread, timers, told, pass, changed } = stage();
  thread.requests = [
    { id: 1, at: 0 },
    { id: 2, at: 0 },
  ];
  changed();
  expect(timers.size).toBe(0);
  idle.refused(actor, DELAY_MS);
  for (let nth = 0; nth < 10; nth++) changed();
  expect(timers.size).toBe(2);
  await pass(DEADLINE_MS - 1);
  idle.follow(actor, {} as never);
  expect(timers.size).toBe(0);
  await pass(DEADLINE_MS);
  expect(told).toEqual([]);
});

it("gives up questions in their order when all are due at once", async () => {
  const { idle, actor, thread, told, pass } = stage();
  thread.requests = [
    { id: 2, at: 0 },
    { id: 1, at: 0 },
  ];
  idle.refused(actor, DELAY_MS);
  await pass(DEADLINE_MS);
  expect(told).toEqual([`question 2 expired at ${DEADLINE_MS}`, `question 1 expired at ${DEADLINE_MS}`]);
});

it("leaves a thread alone that takes no more commands", () => {
  const { idle, actor, thread, timers } = stage();
  thread.requests = [{ id: 1, at: 0 }];
  thread.gone = true;
  idle.refused(actor, DELAY_MS);
  expect(timers.size).toBe(0);
});

it.each([-1e12, -30_000, 30_000, 1e12])(
  "counts a question's deadline alike when the clock is set by %i ms",
  async (ms) => {
    const { idle, actor, thread, told, pass, setClock, changed } = stage();
    thread.requests = [{ id: 1, at: 0 }];
    await pass(5000);
    idle.refused(actor, DELAY_MS);
    await pass(10_000);
    setClock(ms);
    thread.requests.push({ id: 2, at: 15_000 + ms });
    changed();
    await pass(10_000);
    setClock(0);
    changed();
    await pass(DEADLINE_MS);
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
])(
  "leaves clients a minute or more to answer what was asked %s, before a restart",
  async (_, at, expires) => {
    const { idle, actor, thread, told, pass } = stage(10 * DEADLINE_MS);
    thread.requests = [{ id: 1, at }];
    idle.adopted(actor, DELAY_MS);
    await pass(20 * DEADLINE_MS);
    expect(told).toEqual([`question 1 expired at ${expires}`]);
  },
);

it("gives up a helper's question only when nobody retains the thread that it helps, and not before", async () => {
  const { idle, actor, thread, above, told, pass, timers, changed } = stage();
  above.parent = { helpers: ["thread"], subscriptions: { retaining: 1 } };
  thread.requests = [{ id: 1, at: 0 }];
  idle.forNobody(actor);
  await pass(10 * DEADLINE_MS);
  expect([told, timers.size]).toEqual([[], 0]);
  // The deadline counts from that time on.
  above.parent = { helpers: ["thread"], subscriptions: { retaining: 0 } };
  changed();
  await pass(DEADLINE_MS - 1);
  expect(told).toEqual([]);
  await pass(1);
  expect(told).toEqual([`question 1 expired at ${11 * DEADLINE_MS}`]);
});
