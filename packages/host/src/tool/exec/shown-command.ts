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
  const actions = await ports.actions(argumentsOf(invocation).cmd, workdirOf(invocation));
  return newItem(ports, invocation, processId, actions);
}

/** The item as clients were shown it. A damaged journal may have lost it: then it is made anew. */
export function shownItem(ports: ExecPorts, invocation: Invocation): CommandItem {
  const { thread, call } = invocation;
  const item = thread.turn?.open.find(({ id }) => id === call.callId);
  return item?.type === "commandExecution" ? item : newItem(ports, invocation, null, []);
}

/** The same once the command runs. */
export function startedItem(ports: ExecPorts, invocation: Invocation, processId: string): CommandItem {
  return { ...shownItem(ports, invocation), processId, source: "unifiedExecStartup" };
}

function newItem(
  ports: ExecPorts,
  invocation: Invocation,
  processId: string | null,
  commandActions: CommandItem["commandActions"],
): CommandItem {
  const { shell, login } = shellOf(ports, invocation);
  return commandItem(
    {
      id: invocation.call.callId,
      command: shellLine(shell, argumentsOf(invocation).cmd, login).shown,
      cwd: workdirOf(invocation),
      commandActions,
      source: processId === null ? "agent" : "unifiedExecStartup",
      processId,
    },
    invocation.startedAt,
  );
}
