import { beforeEach, expect, it } from "vitest";
import { newThread } from "../../../../test/support/test-thread.ts";
import type { ThreadState } from "../core/state.ts";
import { Supervisor } from "../observe/supervise.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Actor } from "../thread/actor.ts";
import { ActiveRunners } from "./active-runners.ts";
import type { RunnerPorts } from "./runner.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
let isHeld: boolean;
beforeEach(() => {
  isHeld = true;
});
const journal = { isHeld: async () => isHeld };
const actor = { id: "t", owner: "o", journal } as unknown as Actor;
/** Resolves when effects have started, after the check of the thread's claim. */
const begun = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** A thread with a network rule that has to be saved. */
const due: ThreadState = {
  ...newThread(),
  networkRules: [{ requestId: 1 } as ThreadState["networkRules"][number]],
};

/** Runners whose effects never end. Returns the abort signals of the effects. */
function stage(): { readonly runners: ActiveRunners; readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const perform = (_effect: unknown, _state: unknown, signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<never>(() => {});
  };
  const ports = {
    platform: nodePlatform(),
    supervisor: new Supervisor(SILENT),
    toolbox: { perform },
  } as unknown as RunnerPorts;
  return { runners: new ActiveRunners(ports, () => null), signals };
}

it.each(["failed", "unloaded", "stop"] as const)("ends what a thread does: %s", async (how) => {
  const { runners, signals } = stage();
  runners.goOn(actor, due);
  await begun();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  runners[how](actor);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it("begins nothing for a thread that another host has taken over, or that ends meanwhile", async () => {
  const { runners, signals } = stage();
  isHeld = false;
  runners.goOn(actor, due);
  await begun();
  isHeld = true;
  runners.stop(actor);
  runners.goOn(actor, due);
  runners.stop(actor);
  // A commit that was under way when the thread was lost comes last.
  const moved = { id: "t", owner: "o", journal, isMoved: true } as unknown as Actor;
  runners.committed({ seq: 1, epoch: 1, prev: 0, records: [] }, due, { journal: {} as never, actor: moved });
  await begun();
  expect(signals).toEqual([]);
});

it("performs an effect once as long as the state asks for it, and ends it when it does not", async () => {
  const { runners, signals } = stage();
  const commit = { seq: 1, epoch: 1, prev: 0, records: [] };
  const thread = { journal: {} as never, actor };
  runners.committed(commit, due, thread);
  runners.committed(commit, { ...due, name: "another" }, thread);
  await begun();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  runners.committed(commit, newThread(), thread);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it("does nothing for a thread that is not loaded", async () => {
  const { runners, signals } = stage();
  runners.committed({ seq: 1, epoch: 1, prev: 0, records: [] }, due, {
    journal: {} as never,
    actor: undefined,
  });
  await begun();
  expect(signals).toEqual([]);
});
