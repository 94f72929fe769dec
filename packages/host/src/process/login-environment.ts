import type { Platform } from "../platform/platform.ts";
import {
  type CommandEnvironment,
  commandEnvironment,
  type ShellEnvironmentPolicy,
} from "./command-environment.ts";
import type { PartialEnvironment } from "./environment.ts";
import type { ManagedProcess } from "./managed-process.ts";
import type { ProcessManager } from "./process-manager.ts";

const MARK = "\0bobbin-environment\0";
/** A profile may print what it likes; what follows the mark is the environment. */
const SCRIPT = `printf '${MARK.replaceAll("\0", "\\000")}'; command env -0`;

const USUAL_MS = 5_000;
const MAX_BYTES = 1024 * 1024;
/** How often a shell is asked that does not answer. */
const ATTEMPTS = 2;

/** Each shell has these of its own. */
const OF_THE_SHELL = ["_", "PWD", "OLDPWD", "SHLVL"];

/** Whose environment, and what of it commands get. */
interface LoginShell {
  /** The path of the shell. */
  readonly shell: string;
  readonly secrets: ReadonlySet<string>;
  readonly policy: ShellEnvironmentPolicy;
}

export interface LoginEnvironmentPorts {
  readonly platform: Pick<Platform, "env" | "timers">;
  readonly processes: Pick<ProcessManager, "start">;
  /** How long a shell may take; five seconds if nothing is said. */
  readonly maxMs?: number;
}

type Capture =
  | { readonly kind: "captured"; readonly env: PartialEnvironment; readonly removed: readonly string[] }
  | { readonly kind: "failed"; readonly problem: string };

/**
 * The environment that people's profiles set up. A login shell is started once per shell and policy, so that not every
 * command has to wait for the profiles; commands then run in a shell without them.
 */
export class LoginEnvironments {
  readonly #ports: LoginEnvironmentPorts;
  readonly #captures = new Map<string, { readonly capture: Promise<Capture>; readonly attempt: number }>();

  constructor(ports: LoginEnvironmentPorts) {
    this.#ports = ports;
  }

  /** `problem`: why it is the host's own environment, in place of the login shell's. Never rejects. */
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
    // What the profiles set counts as inherited, but no secret does.
    const { env, removed } = commandEnvironment(capture.env, secrets, { ...policy, inherit: "all" }, changes);
    const all = new Set([...capture.removed, ...removed]);
    return {
      env,
      removed: [...all].filter((name) => !Object.hasOwn(env, name)).sort(),
      problem: null,
    };
  }

  async #capture(login: LoginShell): Promise<Capture> {
    const key = JSON.stringify([login.shell, login.policy, [...login.secrets].sort()]);
    const known = this.#captures.get(key);
    if (known !== undefined) {
      const capture = await known.capture;
      if (capture.kind === "captured" || known.attempt === ATTEMPTS) return capture;
      // Somebody else may have tried again meanwhile.
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

  async #run({ shell, secrets, policy }: LoginShell): Promise<Capture> {
    const { platform, processes, maxMs = USUAL_MS } = this.#ports;
    const { env, removed } = commandEnvironment(platform.env, secrets, policy);
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    let problem: string | undefined;
    let running: ManagedProcess | undefined;
    const giveUp = (why: string): void => {
      problem ??= why;
      void running?.terminate();
    };
    running = await processes.start(
      this,
      { argv: [shell, "-lc", SCRIPT], cwd: platform.env.HOME || "/", env, stdin: "closed" },
      (piece) => {
        if (piece.stream !== "stdout") return;
        bytes += piece.bytes.length;
        if (bytes <= MAX_BYTES) pieces.push(piece.bytes);
        else giveUp(`${shell} -l printed more than ${MAX_BYTES} bytes`);
      },
    );
    const cancel = platform.timers.after(maxMs, () =>
      giveUp(`${shell} -l did not end within ${maxMs / 1000} s; look at what its profile waits for`),
    );
    // It may have printed too much before it could be ended.
    if (problem !== undefined) giveUp(problem);
    const { code } = await running.ended;
    cancel();
    if (problem !== undefined) return { kind: "failed", problem };
    const printed = Buffer.concat(pieces).toString();
    const at = printed.indexOf(MARK);
    if (code !== 0 || at < 0)
      return { kind: "failed", problem: `${shell} -l ended with ${code} and did not print its environment` };
    return { kind: "captured", env: parse(printed.slice(at + MARK.length)), removed };
  }
}

function parse(printed: string): PartialEnvironment {
  const entries = printed.split("\0").flatMap((entry): [string, string][] => {
    const at = entry.indexOf("=");
    return at < 1 ? [] : [[entry.slice(0, at), entry.slice(at + 1)]];
  });
  return Object.fromEntries(entries.filter(([name]) => !OF_THE_SHELL.includes(name)));
}
