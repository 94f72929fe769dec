import type { Timers } from "../platform/platform.ts";
import type { Supervisor } from "./supervise.ts";

/** Timers that log errors of their callbacks. An uncaught error would end the process with all its threads. */
export function watchedTimers(timers: Timers, supervisor: Supervisor): Timers {
  const logged = (run: () => void) => () => {
    try {
      run();
    } catch (cause) {
      supervisor.report("work of a timer", cause);
    }
  };
  return {
    after: (ms, run) => timers.after(ms, logged(run)),
    soon: (run) => timers.soon(logged(run)),
  };
}
