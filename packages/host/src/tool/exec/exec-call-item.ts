import type { CommandItem } from "../../core/terminals/records.ts";
import type { Invocation } from "../tool.ts";
import { commandItem } from "./command-item.ts";
import { argumentsOf, shellOf, workdirOf } from "./exec-arguments.ts";
import type { ExecPorts } from "./exec-dependencies.ts";
import { shellLine } from "./shell-line.ts";

/**
 * A new item for an `exec_command` call. Without a `processId`, the command is not running yet: the user is asked
 * about it.
 */
export async function shownCommand(
  ports: ExecPorts,
  invocation: Invocation,
  processId: string | null,
): Promise<CommandItem> {
  const { shell } = shellOf(ports, invocation);
  const actions = await ports.actions(argumentsOf(invocation).cmd, workdirOf(invocation), shell);
  return newItem(ports, invocation, processId, actions);
}

/** The open item of a call, as clients have it. If a damaged journal lost it, it is created again. */
export function shownItem(ports: ExecPorts, invocation: Invocation): CommandItem {
  const { thread, call } = invocation;
  const item = thread.turn?.open.find(({ id }) => id === call.callId);
  return item?.type === "commandExecution" ? item : newItem(ports, invocation, null, []);
}

/** The open item of a call whose command is running. */
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
