import type { ThreadState } from "../../core/state.ts";
import type { ProgramStart } from "../../platform/platform.ts";
import { type CommandEnvironment, commandEnvironment } from "../../process/command-environment.ts";
import { usesPatches } from "../patch/command-patches.ts";
import type { ExecPorts } from "./ports.ts";
import { shellLine } from "./shell-line.ts";

/** How a command is to be run. */
export interface CommandLine {
  readonly text: string;
  readonly shell: string;
  readonly login: boolean;
  readonly tty: boolean;
  readonly cwd: string;
}

const TERMINAL = { cols: 120, rows: 40 };

/** The program that runs a command of the model, before it is confined, and the variables that it does not get. */
export async function commandProgram(
  ports: Pick<ExecPorts, "platform" | "logins" | "environment" | "isForeign" | "shell">,
  thread: ThreadState,
  { text, shell, login, tty, cwd }: CommandLine,
): Promise<{
  readonly program: ProgramStart;
  readonly removed: readonly string[];
  /** Why it does not have the environment of a login shell, if it should have. */
  readonly problem: string | null;
}> {
  const { env, removed, problem } = await environmentOf(ports, thread, login, tty);
  const program: ProgramStart = {
    argv: shellLine(shell, text, login).argv,
    cwd,
    // Those who see nothing of this host do not see its programs either.
    env: usesPatches(text) && !ports.isForeign(thread) ? withPrograms(env, ports.platform.programs) : env,
    stdin: tty ? "open" : "closed",
    tty: tty ? TERMINAL : undefined,
  };
  return { program, removed, problem };
}

/** The host's own programs come last: they replace none of the user's. */
function withPrograms(env: Record<string, string>, folders: readonly string[]): Record<string, string> {
  return { ...env, PATH: [env["PATH"] ?? "/usr/bin:/bin", ...folders].join(":") };
}

async function environmentOf(
  ports: Pick<ExecPorts, "platform" | "logins" | "environment" | "isForeign" | "shell">,
  thread: ThreadState,
  login: boolean,
  tty: boolean,
): Promise<CommandEnvironment & { readonly problem: string | null }> {
  const changes = forPrograms(thread.facts.id, tty);
  if (ports.isForeign(thread)) return { env: { ...FOREIGN, ...changes }, removed: [], problem: null };
  const { policy, secrets } = ports.environment();
  // Always the user's own shell: the model can name any program as the shell of its command.
  return login
    ? ports.logins.forCommand({ shell: ports.shell, policy, secrets, confined: true }, changes)
    : { ...commandEnvironment(ports.platform.env, secrets, policy, changes), problem: null };
}

/** Of commands that have a folder for temporary files of their own, and no home. */
const FOREIGN = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/tmp",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
};

/** Variables that keep programs from waiting for a person, and from colours that models cannot see. */
function forPrograms(threadId: string, tty: boolean): Record<string, string> {
  return {
    NO_COLOR: "1",
    TERM: tty ? "xterm-256color" : "dumb",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GH_PAGER: "cat",
    BOBBIN_THREAD_ID: threadId,
  };
}
