import type { ThreadState } from "../../core/state.ts";
import type { ProgramStart } from "../../platform/platform.ts";
import { type CommandEnvironment, commandEnvironment } from "../../process/command-environment.ts";
import { usesPatches } from "../patch/patch-command-routing.ts";
import type { ExecPorts } from "./exec-dependencies.ts";
import { shellLine } from "./shell-line.ts";

/** A command's text, and the shell and the terminal settings that it runs with. */
export interface CommandLine {
  readonly text: string;
  readonly shell: string;
  readonly login: boolean;
  readonly tty: boolean;
  readonly cwd: string;
}

const TERMINAL = { cols: 120, rows: 40 };

/**
 * Builds the program that runs a command of the model, without the sandbox. `removed`: the environment variables that
 * the command does not get.
 */
export async function commandProgram(
  ports: Pick<ExecPorts, "platform" | "logins" | "environment" | "isForeign" | "shell">,
  thread: ThreadState,
  { text, shell, login, tty, cwd }: CommandLine,
): Promise<{
  readonly program: ProgramStart;
  readonly removed: readonly string[];
  /** Why the environment of a login shell is missing; null if it is not missing. */
  readonly problem: string | null;
}> {
  const { env, removed, problem } = await environmentOf(ports, thread, login, tty);
  const program: ProgramStart = {
    argv: shellLine(shell, text, login).argv,
    cwd,
    // Commands of a foreign thread cannot see this host's programs.
    env: usesPatches(text) && !ports.isForeign(thread) ? withPrograms(env, ports.platform.programs) : env,
    stdin: tty ? "open" : "closed",
    tty: tty ? TERMINAL : undefined,
  };
  return { program, removed, problem };
}

/** Appends the folders of the host's own programs (such as apply_patch) to PATH, after the user's programs. */
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
  const { policy, secrets } = ports.environment(thread.facts.id);
  // Always the user's own shell, because the model may name any program as the shell of its command.
  return login
    ? ports.logins.forCommand({ shell: ports.shell, policy, secrets, confined: true }, changes)
    : { ...commandEnvironment(ports.platform.env, secrets, policy, changes), problem: null };
}

/** The environment of a foreign thread's commands. It has a private folder for temporary files, and no home. */
const FOREIGN = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/tmp",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
};

/** Variables that keep programs from opening a pager, and from printing colours. */
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
