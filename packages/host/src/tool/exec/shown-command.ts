import type { CommandItem } from "../../core/terminals/records.ts";
import type { Invocation } from "../tool.ts";
import { commandItem } from "./command-item.ts";
import { argumentsOf, shellOf, workdirOf } from "./exec-arguments.ts";
import type { ExecPorts } from "./ports.ts";
import { shellLine } from "./shell-line.ts";

/** The item of a command that is not there yet; without a `processId` it is only asked about. */
export async function shownCommand(
  ports: ExecPorts,
  invocation: Invocation,
  processId: string | null,
): Promise<CommandItem> {
  const { cmd } = argumentsOf(invocation);
  const { shell, login } = shellOf(ports, invocation);
  const cwd = workdirOf(invocation);
  return commandItem(
    {
      id: invocation.call.callId,
      command: shellLine(shell, cmd, login).shown,
      cwd,
      commandActions: await ports.actions(cmd, cwd),
      source: processId === null ? "agent" : "unifiedExecStartup",
      processId,
    },
    invocation.startedAt,
  );
}

/** The item as clients were shown it. */
export function shownItem({ thread, call }: Invocation): CommandItem {
  return thread.turn?.open.find(({ id }) => id === call.callId) as CommandItem;
}

/** The same once the command runs. */
export function startedItem(invocation: Invocation, processId: string): CommandItem {
  return { ...shownItem(invocation), processId, source: "unifiedExecStartup" };
}
