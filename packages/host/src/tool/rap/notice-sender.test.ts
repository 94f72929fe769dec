import { describe, expect, it } from "vitest";
import type { Log } from "../../observe/log.ts";
import { NOTICE_MS, NoticeSender } from "./notice-sender.ts";
import type { ToolServerSettings } from "./rap-settings.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const DESK = { name: "desk", url: "http://desk.example" } as ToolServerSettings;
const never = new AbortController().signal;

/** Notices with servers that answer when the test says so, on a clock that stands still. */
function stage() {
  const timers = new Map<() => void, number>();
  const answers: (() => void)[] = [];
  const clock = { time: 100_000, now: () => clock.time, monotonic: () => clock.time };
  const notices = new NoticeSender({
    clock,
    timers: {
      after: (ms: number, run: () => void) => {
        timers.set(run, clock.time + ms);
        return () => timers.delete(run);
      },
    } as never,
    log: silent,
    send: () =>
      new Promise((resolve) => answers.push(() => resolve({ delivered: true, says: "it has answered" }))),
    count() {},
  });
  /** Whether a call to the server may be made by now. */
  const mayCall = async (toldAt: number | null, signal = never): Promise<() => boolean> => {
    let may = false;
    void notices.settled("t", DESK, toldAt, signal).then(() => {
      may = true;
    });
    await flushed();
    return () => may;
  };
  const pass = async (ms: number): Promise<void> => {
    clock.time += ms;
    for (const [run, due] of timers) {
      if (due > clock.time) continue;
      timers.delete(run);
      run();
    }
    await flushed();
  };
  return { notices, answers, clock, timers, mayCall, pass };
}

const flushed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a call to a server that was told that the thread is closed", () => {
  it("waits for the answer to what this host has told", async () => {
    const { notices, answers, clock, mayCall } = stage();
    notices.closed("t", [DESK]);
    const may = await mayCall(clock.time);
    expect(may()).toBe(false);
    answers[0]!();
    await flushed();
    expect(may()).toBe(true);
    // There is nothing else to wait for.
    expect((await mayCall(clock.time))()).toBe(true);
  });

  it("waits for as long as what another host has told may take", async () => {
    const { clock, mayCall, pass, timers } = stage();
    const may = await mayCall(clock.time - 1000);
    await pass(NOTICE_MS - 1001);
    expect(may()).toBe(false);
    await pass(1);
    expect(may()).toBe(true);
    expect((await mayCall(clock.time - NOTICE_MS))()).toBe(true);
    expect(timers.size).toBe(0);
  });

  it("does not wait longer because the other host's clock is wrong", async () => {
    const { clock, mayCall, pass } = stage();
    const may = await mayCall(clock.time + 1_000_000);
    await pass(NOTICE_MS);
    expect(may()).toBe(true);
  });

  it("does not wait when nobody was told, or nobody wants it any more", async () => {
    const { clock, mayCall, timers } = stage();
    expect((await mayCall(null))()).toBe(true);
    const given = new AbortController();
    const may = await mayCall(clock.time, given.signal);
    given.abort();
    await flushed();
    expect(may()).toBe(true);
    expect((await mayCall(clock.time, given.signal))()).toBe(true);
    expect(timers.size).toBe(0);
  });

  it("is all that is remembered of it", async () => {
    const { notices, answers, clock, mayCall, pass } = stage();
    notices.closed("t", [DESK]);
    answers[0]!();
    await flushed();
    await pass(NOTICE_MS + 1);
    notices.closed("another", [DESK]);
    // The closing is forgotten by then, and its time limit has passed.
    expect((await mayCall(clock.time - NOTICE_MS - 1))()).toBe(true);
  });
});
