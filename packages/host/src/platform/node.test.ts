import { afterEach, describe, expect, it, vi } from "vitest";
import { nodePlatform, randomIds } from "./node.ts";

describe("the platform", () => {
  it("returns memory without failing, even twice at once", async () => {
    const platform = nodePlatform();
    platform.giveBackMemory();
    platform.giveBackMemory();
    // The memory is returned after an asynchronous import; an error would end the process after this test.
    await import("node:inspector");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(platform.process().residentMemoryBytes).toBeGreaterThan(0);
  });

  it("makes ids that are unique and in the order of their making", () => {
    const { ids } = nodePlatform();
    const made = Array.from({ length: 10_000 }, () => ids.uuid());
    expect(new Set(made).size).toBe(made.length);
    expect(made.toSorted()).toEqual(made);
    expect(
      made.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
    ).toBe(true);
  });

  it("keeps ids in order while the clock wavers, and follows one that was set back", () => {
    let now = Date.UTC(2026, 0, 1);
    const ids = randomIds(
      () => now,
      (bytes) => bytes.fill(7),
    );
    const stampOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
    const first = ids.uuid();
    now -= 5000;
    expect(ids.uuid() > first).toBe(true);
    now = Date.UTC(2076, 0, 1);
    expect(stampOf(ids.uuid())).toBe(now);
    now = Date.UTC(2026, 0, 2);
    const right = ids.uuid();
    expect(stampOf(right)).toBe(now);
    expect(ids.uuid() > right).toBe(true);
  });

  it("makes safe integers above zero", () => {
    const { ids } = nodePlatform();
    for (let at = 0; at < 10_000; at++) {
      const id = ids.integer();
      expect(Number.isSafeInteger(id) && id > 0).toBe(true);
    }
  });
});

describe("its timers", () => {
  const DAY = 24 * 60 * 60 * 1000;
  afterEach(() => void vi.useRealTimers());

  it("wait for longer than one timer of Node can, and go off once", () => {
    vi.useFakeTimers();
    let runs = 0;
    nodePlatform().timers.after(60 * DAY, () => runs++);
    vi.advanceTimersByTime(60 * DAY - 1);
    expect(runs).toBe(0);
    vi.advanceTimersByTime(1);
    expect(runs).toBe(1);
    vi.advanceTimersByTime(60 * DAY);
    expect(runs).toBe(1);
  });

  it("can be called off in the middle of a long wait", () => {
    vi.useFakeTimers();
    let runs = 0;
    const cancel = nodePlatform().timers.after(60 * DAY, () => runs++);
    vi.advanceTimersByTime(30 * DAY);
    cancel();
    vi.advanceTimersByTime(60 * DAY);
    expect(runs).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("never fire early for a delay that Node cannot count", async () => {
    let runs = 0;
    const cancel = nodePlatform().timers.after(2 ** 31, () => runs++);
    // Started later, and due later, than a timer that fired at once.
    await new Promise((resolve) => setTimeout(resolve, 2));
    cancel();
    expect(runs).toBe(0);
  });
});
