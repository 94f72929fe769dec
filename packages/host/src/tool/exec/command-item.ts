import type { CommandItem } from "../../core/terminals/records.ts";

/** The `commandExecution` item of a command that is about to run, or that the user is asked about. */
export function commandItem(
  of: Pick<CommandItem, "id" | "command" | "cwd" | "commandActions" | "source" | "processId">,
  startedAtMs: number,
): CommandItem {
  return {
    type: "commandExecution",
    ...of,
    status: "inProgress",
    aggregatedOutput: null,
    exitCode: null,
    durationMs: null,
    pluginId: null,
    scriptPath: null,
    startedAtMs,
    completedAtMs: null,
  };
}

export function declinedCommand(item: CommandItem, at: number): CommandItem {
  return { ...item, status: "declined", completedAtMs: at };
}
