import type { CommandItem } from "./records.ts";

/** How a command ended. `exitCode`: -1 if it was killed. */
export interface CommandEnd {
  readonly exitCode: number;
  readonly output: string;
}

/** The item of a command that has ended. */
export function endedCommand(item: CommandItem, at: number, { exitCode, output }: CommandEnd): CommandItem {
  return {
    ...item,
    status: exitCode === 0 ? "completed" : "failed",
    aggregatedOutput: output,
    exitCode,
    durationMs: item.startedAtMs == null ? null : Math.max(0, at - item.startedAtMs),
    completedAtMs: at,
  };
}
