import { readdirSync, readFileSync } from "node:fs";

/** The IDs of all processes of this machine whose file under `/proc/PID` contains a text. */
function processesWith(file: "environ" | "cmdline" | "mountinfo", text: string): readonly number[] {
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

/** Processes whose environment contains a text. */
export function withMark(mark: string): readonly number[] {
  return processesWith("environ", mark);
}

/** The watchdog process of a host, while it runs. */
export function watchdogOf(hostMark: string): readonly number[] {
  return processesWith("cmdline", `bobbin-watchdog\0${hostMark}`);
}

/** Programs `sleep SECONDS`. */
export function sleepers(seconds: string): readonly number[] {
  return processesWith("cmdline", `sleep\0${seconds}\0`);
}

/**
 * Processes that see a mount at a folder, or below it: those in the mount namespace of a sandbox that has the folder.
 * If the mount is in the namespace of the machine, these are all processes.
 */
export function withMountAt(folder: string): readonly number[] {
  return processesWith("mountinfo", ` ${folder}`);
}
