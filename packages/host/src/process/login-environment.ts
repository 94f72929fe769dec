import type { Platform, ProgramStart } from "../platform/platform.ts";
import {
  type CommandEnvironment,
  commandEnvironment,
  type ShellEnvironmentPolicy,
} from "./command-environment.ts";
import type { PartialEnvironment } from "./environment.ts";
import type { ManagedProcess } from "./managed-process.ts";
import type { ProcessManager } from "./process-manager.ts";
import { MARK_VARIABLE } from "./process-marks.ts";

const MARK = "\0bobbin-environment\0";
/** A profile may print what it likes; what follows the mark is the environment. */
const SCRIPT = `printf '${MARK.replaceAll("\0", "\\000")}'; command env -0`;

const USUAL_MS = 5_000;
const MAX_BYTES = 1024 * 1024;
const MAX_COMPLAINT = 500;
/** How often a shell is asked that does not answer. */
const ATTEMPTS = 2;

/** Each shell, and each process that the host starts, has these of its own. */
const OF_ITS_OWN = ["_", "PWD", "OLDPWD", "SHLVL", MARK_VARIABLE];

/** Whose environment, and what of it commands get. */
interface LoginShell {
  /** The path of the shell. */
  readonly shell: string;
  readonly secrets: ReadonlySet<string>;
  readonly policy: ShellEnvironmentPolicy;
  /** The profiles are run for a model, which may have written them: in a sandbox, where there is one. */
  readonly confined: boolean;
}

export interface LoginEnvironmentPorts {
  readonly platform: Pick<Platform, "env" | "timers">;
  readonly processes: Pick<ProcessManager, "start">;
  /** How a program is started so that it can change nothing. */
  readonly confine?: (program: ProgramStart) => Promise<ConfinedStart>;
  /** How long a shell may take; five seconds if nothing is said. */
  readonly maxMs?: number;
}

interface ConfinedStart {
  readonly program: ProgramStart;
  /** To be called when the program is gone. */
  release(): Promise<void>;
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
    const key = JSON.stringify([login.shell, login.confined, login.policy, [...login.secrets].sort()]);
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

  async #run({ shell, secrets, policy, confined }: LoginShell): Promise<Capture> {
    const { platform, confine } = this.#ports;
    const { env, removed } = commandEnvironment(platform.env, secrets, policy);
    const cwd = platform.env["HOME"] || "/";
    const plain: ProgramStart = { argv: [shell, "-lc", SCRIPT], cwd, env, stdin: "closed" };
    const start = confined ? await confine?.(plain) : undefined;
    try {
      const printed = await this.#printedBy(start?.program ?? plain, shell);
      if ("problem" in printed) return { kind: "failed", ...printed };
      return { kind: "captured", env: parse(printed.text), removed };
    } finally {
      await start?.release();
    }
  }

  /** What a shell prints after the mark, within bounds of time and size. */
  async #printedBy(
    program: ProgramStart,
    shell: string,
  ): Promise<{ readonly text: string } | { readonly problem: string }> {
    const { platform, processes, maxMs = USUAL_MS } = this.#ports;
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    let complaint = "";
    let problem: string | undefined;
    let running: ManagedProcess | undefined;
    const giveUp = (why: string): void => {
      problem ??= why;
      void running?.endGently();
    };
    running = await processes.start(this, program, (piece) => {
      if (piece.stream === "stderr") {
        if (complaint.length < MAX_COMPLAINT) complaint += Buffer.from(piece.bytes).toString();
        return;
      }
      bytes += piece.bytes.length;
      if (bytes <= MAX_BYTES) pieces.push(piece.bytes);
      else giveUp(`${shell} -l printed more than ${MAX_BYTES} bytes`);
    });
    const cancel = platform.timers.after(maxMs, () =>
      giveUp(`${shell} -l did not end within ${maxMs / 1000} s; look at what its profile waits for`),
    );
    // It may have printed too much before it could be ended.
    if (problem !== undefined) giveUp(problem);
    const { code } = await running.ended;
    cancel();
    if (problem !== undefined) return { problem };
    const printed = Buffer.concat(pieces).toString();
    const at = printed.indexOf(MARK);
    if (code !== 0 || at < 0)
      return {
        problem: `${shell} -l ended with ${code} and did not print its environment${said(complaint)}`,
      };
    return { text: printed.slice(at + MARK.length) };
  }
}

/** The last line that a shell wrote to its standard error, in brackets. */
function said(complaint: string): string {
  const line = complaint.slice(0, MAX_COMPLAINT).trimEnd().split("\n").at(-1)?.trim();
  return line ? ` (${line})` : "";
}

function parse(printed: string): PartialEnvironment {
  const entries = printed.split("\0").flatMap((entry): [string, string][] => {
    const at = entry.indexOf("=");
    return at < 1 ? [] : [[entry.slice(0, at), entry.slice(at + 1)]];
  });
  return Object.fromEntries(entries.filter(([name]) => !OF_ITS_OWN.includes(name)));
}
