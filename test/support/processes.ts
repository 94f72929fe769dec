import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes of this machine for which a file under `/proc/PID` has a text. */
function processesWith(file: "environ" | "cmdline", text: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, "utf8").includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Processes whose environment has a text. */
export function withMark(mark: string): readonly number[] {
  return processesWith("environ", mark);
}

/** The watchdog of a host, while it runs. */
export function watchdogOf(hostMark: string): readonly number[] {
  return processesWith("cmdline", `bobbin-watchdog\0${hostMark}`);
}

/** Programs `sleep SECONDS`. */
export function sleepers(seconds: string): readonly number[] {
  return processesWith("cmdline", `sleep\0${seconds}\0`);
}
