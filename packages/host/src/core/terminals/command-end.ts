import type { CommandItem } from "./records.ts";

/** How a command ended. `exitCode`: -1 if it was killed. */
export interface CommandEnd {
  readonly exitCode: number;
  readonly output: string;
  /** How long the program ran, by the monotonic clock; undefined if it was not started. */
  readonly ranMs?: number | undefined;
}

/** The item of a command that has ended. */
export function endedCommand(
  item: CommandItem,
  at: number,
  { exitCode, output, ranMs }: CommandEnd,
): CommandItem {
  // The machine's clock may have been set back since the command's start.
  const startedAtMs = item.startedAtMs == null ? item.startedAtMs : Math.min(item.startedAtMs, at);
  return {
    ...item,
    startedAtMs,
    status: exitCode === 0 ? "completed" : "failed",
    aggregatedOutput: output,
    exitCode,
    // The item's start may be that of a question about the command.
    durationMs: ranMs ?? (startedAtMs == null ? null : at - startedAtMs),
    completedAtMs: at,
  };
}
