import type { CommandItem } from "../../core/terminals/records.ts";
import { USUAL_SHELL_ENVIRONMENT } from "../../process/command-environment.ts";
import type { ProcessOwner } from "../../process/process-manager.ts";
import type { LiveOutput } from "../tool.ts";
import type { ExecPorts } from "./exec-dependencies.ts";
import { RunningCommand } from "./running-command.ts";
import { shellLine } from "./shell-line.ts";

/** A command that a user runs in a thread (`thread/shellCommand`). */
export interface UserShell {
  readonly item: CommandItem;
  readonly text: string;
  readonly timeoutMs: number;
}

/** Commands of users get the whole environment of the user, without the host's own secrets. */
const USERS = { ...USUAL_SHELL_ENVIRONMENT, removesSecrets: false };

/** Starts a user's command in the user's shell, outside of any sandbox. */
export async function startUserShell(
  ports: ExecPorts,
  owner: ProcessOwner,
  warnOfLogin: (problem: string | null) => void,
  { item, text, timeoutMs }: UserShell,
  turnId: string,
  live: LiveOutput,
): Promise<RunningCommand> {
  const { shell, logins, platform } = ports;
  const { secrets } = ports.environment();
  const login = { shell, policy: USERS, secrets, confined: false };
  const { env, problem } = await logins.forCommand(login);
  warnOfLogin(problem);
  const running = await RunningCommand.start(ports, {
    owner,
    command: text,
    program: { argv: shellLine(shell, text, true).argv, cwd: item.cwd, env, stdin: "closed", tty: undefined },
    release: async () => undefined,
    turnId,
    itemId: item.id,
    file: undefined,
    live,
  });
  const cancel = platform.timers.after(timeoutMs, () => running.timeOut(timeoutMs));
  void running.ended.then(cancel);
  return running;
}
