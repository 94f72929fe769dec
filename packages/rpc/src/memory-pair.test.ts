import { describe, expect, it } from "vitest";
import { MAX_MESSAGE_BYTES } from "./link.ts";
import { type MemoryLink, memoryPair } from "./memory-pair.ts";
import { Frame } from "./outgoing-frame.ts";

/** A scheduler whose tasks run when the test says so. */
function byHand() {
  const tasks: (() => void)[] = [];
  return {
    schedule: (task: () => void) => void tasks.push(task),
    step: () => tasks.shift()?.(),
    run() {
      while (tasks.length > 0) tasks.shift()?.();
    },
  };
}

function record(end: MemoryLink): string[] {
  const told: string[] = [];
  end.attach({
    message: (text) => told.push(text),
    oversized: (bytes) => told.push(`oversized ${bytes}`),
    undecodable: () => told.push("undecodable"),
    drained: () => told.push("drained"),
    closed: () => told.push("closed"),
  });
  return told;
}

describe("memoryPair", () => {
  it("delivers every message in order and never inside of send", async () => {
    const [a, b] = memoryPair();
    const told = record(b);
    a.send(new Frame("1", "2"));
    a.send(new Frame("3"));
    expect(told).toEqual([]);
    await new Promise(setImmediate);
    expect(told).toEqual(["1", "2", "3"]);
  });

  it("counts undelivered bytes as backlog, and reports when it is empty", () => {
    const { schedule, step, run } = byHand();
    const [a, b] = memoryPair({ schedule });
    const toldA = record(a);
    record(b);
    run();
    a.send(new Frame("äb", "c"));
    expect(a.backlog).toBe(4);
    step();
    expect([a.backlog, toldA]).toEqual([1, []]);
    step();
    expect([a.backlog, toldA]).toEqual([0, ["drained"]]);
  });

  it("queues messages while the receiver pauses", () => {
    const { schedule, run } = byHand();
    const [a, b] = memoryPair({ schedule });
    const told = record(b);
    b.pause();
    a.send(new Frame("1"));
    run();
    expect([told, a.backlog]).toEqual([[], 1]);
    b.resume();
    run();
    expect([told, a.backlog]).toEqual([["1"], 0]);
  });

  it("queues messages until a receiver is attached", () => {
    const { schedule, run } = byHand();
    const [a, b] = memoryPair({ schedule });
    a.send(new Frame("early"));
    run();
    const told = record(b);
    run();
    expect(told).toEqual(["early"]);
  });

  it("delivers what was sent before a close, then closes both ends once", async () => {
    const [a, b] = memoryPair();
    const [toldA, toldB] = [record(a), record(b)];
    a.send(new Frame("last words"));
    const closed = a.close("normal");
    a.send(new Frame("too late"));
    b.send(new Frame("too late as well"));
    await closed;
    await a.close("shutdown");
    await b.close("normal");
    expect(toldB).toEqual(["last words", "closed"]);
    expect(toldA).toEqual(["closed"]);
    expect(a.backlog).toBe(0);
  });

  it("breaks the connection after graceMs if the other end does not read", async () => {
    const graces: (() => void)[] = [];
    const [a, b] = memoryPair({ after: (_ms, task) => void graces.push(task) });
    const told = record(b);
    record(a);
    b.pause();
    a.send(new Frame("unread"));
    const closed = a.close("slow", 1_000);
    graces[0]?.();
    await closed;
    expect(told).toEqual(["closed"]);
  });

  it("loses undelivered messages when the connection breaks", () => {
    const { schedule, run } = byHand();
    const [a, b] = memoryPair({ schedule });
    const [toldA, toldB] = [record(a), record(b)];
    a.send(new Frame("lost"));
    b.cut();
    run();
    expect([toldA, toldB]).toEqual([["closed"], ["closed"]]);
  });

  it("skips a message over the limit, as every transport does", () => {
    const { schedule, run } = byHand();
    const [a, b] = memoryPair({ schedule });
    const told = record(b);
    a.send(new Frame("x".repeat(MAX_MESSAGE_BYTES + 1), "next"));
    run();
    expect(told).toEqual([`oversized ${MAX_MESSAGE_BYTES + 1}`, "next"]);
  });
});
