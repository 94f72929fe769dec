import { expect, it } from "vitest";
import { watchedTimers } from "./error-logging-timers.ts";
import { Supervisor } from "./supervise.ts";

it("[DAMAGE-3] work of a timer that fails is logged, and ends nothing else", () => {
  const due: (() => void)[] = [];
  const timers = {
    after: (_: number, run: () => void) => {
      due.push(run);
      return () => void due.splice(due.indexOf(run), 1);
    },
    soon: (run: () => void) => void due.push(run),
  };
  const logged: string[] = [];
  const error = (message: string) => void logged.push(message);
  const supervisor = new Supervisor({ debug() {}, info() {}, warn() {}, error });
  const watched = watchedTimers(timers, supervisor);
  let done = 0;
  const bug = (): never => {
    throw new TypeError("a bug");
  };
  watched.after(1, bug);
  watched.soon(bug);
  watched.soon(() => void done++);
  const cancel = watched.after(1, () => void done++);
  cancel();
  for (const run of due) run();
  expect(done).toBe(1);
  expect(logged).toEqual(["work of a timer failed", "work of a timer failed"]);
});
