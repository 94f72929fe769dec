import type { Host } from "../host.ts";

/** The line that a person sees who stops the server by hand. */
export function stopping({ threads, turns }: ReturnType<Host["counts"]>): string {
  const loaded = threads === 0 ? "" : `: ${count(threads, "thread is", "threads are")} loaded`;
  const running = turns === 0 ? "" : `, ${count(turns, "turn is", "turns are")} running`;
  return `Stopping${loaded}${running}. Ctrl-C again stops at once.\n`;
}

/** The line after it, when all is done. */
export function stopped({ closed, parked }: Awaited<ReturnType<Host["close"]>>): string {
  const ends = [
    ...(closed > 0 ? [`${count(closed, "thread", "threads")} closed`] : []),
    ...(parked > 0
      ? [`${count(parked, "thread that waits", "threads that wait")} left to the next start`]
      : []),
  ];
  return `Stopped${ends.length === 0 ? "" : `: ${ends.join(", ")}`}.\n`;
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
