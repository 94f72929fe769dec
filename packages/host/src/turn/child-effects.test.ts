import { beforeEach, describe, expect, it } from "vitest";
import type { ChildEffect } from "../core/next.ts";
import { fault } from "../errors.ts";
import type { Actor } from "../thread/actor.ts";
import { type ChildEffectPorts, performForChild } from "./child-effects.ts";

const EFFECT: ChildEffect = { key: "child c made", kind: "child", child: { childId: "c", task: null } };

let offered: string[];
let reported: unknown[];
let pauses: number[];
let attempts: number;
/** The number of attempts that fail. */
let failures: number;
/** Called during each pause. */
let paused: () => void;
beforeEach(() => {
  offered = [];
  reported = [];
  pauses = [];
  attempts = 0;
  failures = 0;
  paused = () => {};
});

const actor = {
  gone: false,
  peek: async () => ({}),
  offer: ({ kind }: { kind: string }) => void offered.push(kind),
} as unknown as Actor;

const ports = {
  platform: {
    clock: { now: () => 1_000 },
    timers: {
      after(ms: number, run: () => void) {
        pauses.push(ms);
        paused();
        queueMicrotask(run);
        return () => {};
      },
    },
  },
  supervisor: { report: (_what: string, cause: unknown) => void reported.push(cause) },
  async child() {
    if (++attempts <= failures) throw fault("storageFailed", "no room");
    return "childEnded";
  },
} as unknown as ChildEffectPorts;

describe("an effect for a child", () => {
  it("is tried again after short pauses, and its outcome is submitted once", async () => {
    failures = 3;
    await performForChild(actor, ports, EFFECT, new AbortController().signal);
    expect(offered).toEqual(["childEnded"]);
    expect(reported).toHaveLength(3);
    expect(pauses).toEqual([250, 500, 1000]);
  });

  it("is given up within a few seconds, because its pauses are in no record", async () => {
    failures = Number.POSITIVE_INFINITY;
    await performForChild(actor, ports, EFFECT, new AbortController().signal);
    expect(offered).toEqual(["childFailed"]);
    expect(attempts).toBe(5);
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(5_000);
  });

  it("is not tried again once it is aborted", async () => {
    failures = Number.POSITIVE_INFINITY;
    const controller = new AbortController();
    paused = () => controller.abort();
    await performForChild(actor, ports, EFFECT, controller.signal);
    expect([attempts, offered]).toEqual([1, []]);
  });
});
