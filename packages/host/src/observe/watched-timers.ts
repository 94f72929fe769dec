import type { Timers } from "../platform/platform.ts";
import type { Supervisor } from "./supervise.ts";

/** Timers whose work may fail: what it throws is logged, and does not end the process with all of its threads. */
export function watchedTimers(timers: Timers, supervisor: Supervisor): Timers {
  const watched = (run: () => void) => () => {
    try {
      run();
    } catch (cause) {
      supervisor.report("work of a timer", cause);
    }
  };
  return {
    after: (ms, run) => timers.after(ms, watched(run)),
    soon: (run) => timers.soon(watched(run)),
  };
}
