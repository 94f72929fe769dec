import { MARK_VARIABLE } from "../platform/mark-variable.ts";
import type { Platform, ProgramStart } from "../platform/platform.ts";
import {
  type CommandEnvironment,
  commandEnvironment,
  type ShellEnvironmentPolicy,
} from "./command-environment.ts";
import type { ManagedProcess } from "./managed-process.ts";
import type { ProcessManager } from "./process-manager.ts";
import type { PartialEnvironment } from "./user-program-environment.ts";

const MARKER = "\0bobbin-environment\0";
/** The profile may print any text, so the script prints a marker before the environment. */
const SCRIPT = `printf '${MARKER.replaceAll("\0", "\\000")}'; command env -0`;

const DEFAULT_MAX_MS = 5_000;
const MAX_BYTES = 1024 * 1024;
const MAX_STDERR = 500;
/** Limit on the attempts with a failing shell. */
const ATTEMPTS = 2;

/** Variables that have their own values in every shell and process. */
const PER_PROCESS = ["_", "PWD", "OLDPWD", "SHLVL", MARK_VARIABLE];

/** A login shell, and which of its variables commands get. */
interface LoginShell {
  /** The path of the shell. */
  readonly shell: string;
  readonly secrets: ReadonlySet<string>;
  readonly policy: ShellEnvironmentPolicy;
  /** Whether the shell profiles run in a sandbox, if there is one, because a model may have written them. */
  readonly confined: boolean;
}

export interface LoginEnvironmentPorts {
  readonly platform: Pick<Platform, "env" | "timers">;
  readonly processes: Pick<ProcessManager, "start">;
  /** Sandboxes a program so that it can change nothing. */
  readonly confine?: (program: ProgramStart) => Promise<ConfinedStart>;
  /** Time limit for a shell; five seconds by default. */
  readonly maxMs?: number;
}

interface ConfinedStart {
  readonly program: ProgramStart;
  /** To be called when the program has ended. */
  release(): Promise<void>;
}

type Capture =
  | { readonly kind: "captured"; readonly env: PartialEnvironment; readonly removed: readonly string[] }
  | { readonly kind: "failed"; readonly problem: string };

/**
 * Captures the environment that users' shell profiles set up. A login shell is started once per shell and policy, so
 * that not every command waits for the profiles. Commands then run in a shell that does not read them.
 */
export class LoginEnvironments {
  readonly #ports: LoginEnvironmentPorts;
  readonly #captures = new Map<string, { readonly capture: Promise<Capture>; readonly attempt: number }>();

  constructor(ports: LoginEnvironmentPorts) {
    this.#ports = ports;
  }

  /**
   * The environment for a command. `problem`: why it is the host's own environment instead of the login shell's.
   * Never rejects.
   */
  async forCommand(
    login: LoginShell,
    changes: PartialEnvironment = {},
  ): Promise<CommandEnvironment & { readonly problem: string | null }> {
    const { secrets, policy } = login;
    const capture = await this.#capture(login);
    if (capture.kind === "failed") {
      const { env } = this.#ports.platform;
      return { ...commandEnvironment(env, secrets, policy, changes), problem: capture.problem };
    }
    // Variables that profiles set count as inherited, except those that look like secrets.
    const { env, removed } = commandEnvironment(capture.env, secrets, { ...policy, inherit: "all" }, changes);
    const all = new Set([...capture.removed, ...removed]);
    return {
      env,
      removed: [...all].filter((name) => !Object.hasOwn(env, name)).sort(),
      problem: null,
    };
  }

  async #capture(login: LoginShell): Promise<Capture> {
    const key = JSON.stringify([login.shell, login.confined, login.policy, [...login.secrets].sort()]);
    const known = this.#captures.get(key);
    if (known !== undefined) {
      const capture = await known.capture;
      if (capture.kind === "captured" || known.attempt === ATTEMPTS) return capture;
      // Another call may already have started the next attempt.
      if (this.#captures.get(key) !== known) return this.#capture(login);
    }
    const capture = this.#run(login).catch(
      (cause: Error): Capture => ({
        kind: "failed",
        problem: `${login.shell} cannot be started: ${cause.message}`,
      }),
    );
    this.#captures.set(key, { capture, attempt: (known?.attempt ?? 0) + 1 });
    return capture;
  }

  async #run({ shell, secrets, policy, confined }: LoginShell): Promise<Capture> {
    const { platform, confine } = this.#ports;
    const { env, removed } = commandEnvironment(platform.env, secrets, policy);
    const cwd = platform.env["HOME"] || "/";
    const plain: ProgramStart = { argv: [shell, "-lc", SCRIPT], cwd, env, stdin: "closed" };
    const start = confined ? await confine?.(plain) : undefined;
    try {
      const printed = await this.#outputOf(start?.program ?? plain, shell);
      if ("problem" in printed) return { kind: "failed", ...printed };
      return { kind: "captured", env: parse(printed.text), removed };
    } finally {
      await start?.release();
    }
  }

  /** The shell's output after the marker, limited in time and size. */
  async #outputOf(
    program: ProgramStart,
    shell: string,
  ): Promise<{ readonly text: string } | { readonly problem: string }> {
    const { platform, processes, maxMs = DEFAULT_MAX_MS } = this.#ports;
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    let stderr = "";
    let problem: string | undefined;
    let running: ManagedProcess | undefined;
    const giveUp = (why: string): void => {
      problem ??= why;
      void running?.endGently();
    };
    running = await processes.start(this, program, (piece) => {
      if (piece.stream === "stderr") {
        if (stderr.length < MAX_STDERR) stderr += Buffer.from(piece.bytes).toString();
        return;
      }
      bytes += piece.bytes.length;
      if (bytes <= MAX_BYTES) pieces.push(piece.bytes);
      else giveUp(`${shell} -l printed more than ${MAX_BYTES} bytes`);
    });
    const cancel = platform.timers.after(maxMs, () =>
      giveUp(`${shell} -l did not end within ${maxMs / 1000} s; look at what its profile waits for`),
    );
    // The shell may have printed too much before `running` was set.
    if (problem !== undefined) giveUp(problem);
    const { code } = await running.ended;
    cancel();
    if (problem !== undefined) return { problem };
    const printed = Buffer.concat(pieces).toString();
    const at = printed.indexOf(MARKER);
    if (code !== 0 || at < 0)
      return {
        problem: `${shell} -l ended with ${code} and did not print its environment${lastLine(stderr)}`,
      };
    return { text: printed.slice(at + MARKER.length) };
  }
}

/** The last line of a shell's standard error, in parentheses. */
function lastLine(stderr: string): string {
  const line = stderr.slice(0, MAX_STDERR).trimEnd().split("\n").at(-1)?.trim();
  return line ? ` (${line})` : "";
}

function parse(printed: string): PartialEnvironment {
  const entries = printed.split("\0").flatMap((entry): [string, string][] => {
    const at = entry.indexOf("=");
    return at < 1 ? [] : [[entry.slice(0, at), entry.slice(at + 1)]];
  });
  return Object.fromEntries(entries.filter(([name]) => !PER_PROCESS.includes(name)));
}
