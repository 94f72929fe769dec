import { expect, it } from "vitest";
import { pinoLog } from "../observe/log.ts";
import { Supervisor } from "../observe/supervise.ts";
import type { Platform, ProgramExit, ProgramStart } from "../platform/platform.ts";
import { ProcessManager } from "./process-manager.ts";
import { ProcessMarks } from "./process-marks.ts";

const PROGRAM: ProgramStart = { argv: ["program"], cwd: "/", env: {}, stdin: "closed" };
const log = pinoLog({ level: "silent", format: "text", write() {} });

function held<T = void>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A manager of programs that end when a test says so. Programs are spawned once the watchdog is up. */
function stage() {
  const watchdog = held();
  const exit = held<ProgramExit>();
  const events: string[] = [];
  const platform = {
    env: {},
    ids: { uuid: () => "mark", integer: () => 1 },
    timers: { after: () => () => {}, soon: () => {} },
    spawn: async () => {
      events.push("spawned");
      return {
        pid: 1,
        tty: false,
        output: (async function* () {})(),
        stopReading() {},
        write: async () => {},
        endInput() {},
        resize() {},
        signal: (signal: string) => void events.push(signal),
        exited: exit.promise,
      };
    },
    markedProcesses: {
      ask: async () => false,
      end: async () => {},
      watch: async () => {
        await watchdog.promise;
        return { stop: async () => void events.push("closed"), gone: new Promise<void>(() => {}) };
      },
    },
  } as unknown as Platform;
  const marks = new ProcessMarks({ home: undefined, platform, log });
  const processes = new ProcessManager({ platform, supervisor: new Supervisor(log), marks });
  return { watchdog, exit, events, processes };
}

it.each(["end", "close"] as const)(
  "%s keeps a program from starting that is not spawned yet",
  async (how) => {
    const { watchdog, events, processes } = stage();
    const owner = {};
    const started = expect(processes.start(owner, PROGRAM, () => {})).rejects.toThrow(
      "ended before it started",
    );
    const done = how === "end" ? processes.end(owner) : processes.close();
    watchdog.resolve();
    await started;
    await done;
    expect(events).not.toContain("spawned");
  },
);

it("starts a program for an owner that was ended before", async () => {
  const { watchdog, exit, events, processes } = stage();
  const owner = {};
  watchdog.resolve();
  await processes.end(owner);
  const { ended } = await processes.start(owner, PROGRAM, () => {});
  exit.resolve({ code: 0, signal: null } as ProgramExit);
  await ended;
  expect(events).toContain("spawned");
});

it("closes when the programs have exited of an owner that was being ended already", async () => {
  const { watchdog, exit, events, processes } = stage();
  const owner = {};
  watchdog.resolve();
  await processes.start(owner, PROGRAM, () => {});
  const ended = processes.end(owner);
  const closed = processes.close().then(() => expect(events.indexOf("exited")).toBeGreaterThan(0));
  // All that does not wait for the exit is done by then.
  for (let turns = 0; turns < 100; turns++) await Promise.resolve();
  expect(events).not.toContain("closed");
  events.push("exited");
  exit.resolve({ code: null, signal: "SIGKILL" } as ProgramExit);
  await Promise.all([ended, closed]);
  expect(events.at(-1)).toBe("closed");
});
