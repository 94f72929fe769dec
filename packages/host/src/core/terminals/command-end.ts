import type { CommandItem } from "./records.ts";

/** How a command ended. `exitCode`: -1 if it was killed. */
export interface CommandEnd {
  readonly exitCode: number;
  readonly output: string;
}

/** The item of a command that has ended. */
export function endedCommand(item: CommandItem, at: number, { exitCode, output }: CommandEnd): CommandItem {
  // The machine's clock may have been set back since the command's start.
  const startedAtMs = item.startedAtMs == null ? item.startedAtMs : Math.min(item.startedAtMs, at);
  return {
    ...item,
    startedAtMs,
    status: exitCode === 0 ? "completed" : "failed",
    aggregatedOutput: output,
    exitCode,
    durationMs: startedAtMs == null ? null : at - startedAtMs,
    completedAtMs: at,
  };
}
