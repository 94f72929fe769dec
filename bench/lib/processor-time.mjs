// Processor time of a process from /proc, in nanoseconds of the scheduler. The usual counters have steps of 10 ms.
import { existsSync, readdirSync, readFileSync } from "node:fs";

export const canMeasureProcessorTime = existsSync("/proc/self/schedstat");

/**
 * The time that all threads of a process have run so far, in milliseconds.
 * @param {number} pid
 */
export function processorTime(pid) {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // The thread has just ended.
    }
  }
  return ns / 1e6;
}
