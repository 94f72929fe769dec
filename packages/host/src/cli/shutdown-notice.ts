import type { Host } from "../host.ts";

/** The line that is printed on a terminal when the server begins to stop. */
export function stoppingLine({ threads, turns }: ReturnType<Host["counts"]>): string {
  const loaded = threads === 0 ? "" : `: ${count(threads, "thread is", "threads are")} loaded`;
  const running = turns === 0 ? "" : `, ${count(turns, "turn is", "turns are")} running`;
  return `Stopping${loaded}${running}. Ctrl-C again stops at once.\n`;
}

/** The line that is printed when the server has stopped. */
export function stoppedLine({ closed, parked }: Awaited<ReturnType<Host["close"]>>): string {
  const ends = [
    ...(closed > 0 ? [`${count(closed, "thread", "threads")} closed`] : []),
    ...(parked > 0
      ? [`${count(parked, "waiting thread", "waiting threads")} parked for the next start`]
      : []),
  ];
  return `Stopped${ends.length === 0 ? "" : `: ${ends.join(", ")}`}.\n`;
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
