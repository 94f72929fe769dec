import type { CommandAction } from "@bobbin/protocol";
import type { DueNetworkRule } from "../../core/requests/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { TerminalState } from "../../core/terminals/records.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Platform, ProgramStart } from "../../platform/platform.ts";
import type { ShellEnvironmentPolicy } from "../../process/command-environment.ts";
import type { LoginEnvironments } from "../../process/login-environment.ts";
import type { ProcessManager } from "../../process/process-manager.ts";
import type { HostRules } from "../../sandbox/network/hosts.ts";
import type { SandboxProblem } from "../../sandbox/sandbox.ts";
import type { Consent } from "../consent/consent.ts";
import type { Permissions } from "../consent/permissions.ts";
import type { PatchPorts } from "../patch/apply-patch.ts";
import type { AskedPermissions } from "../wanted-permissions.ts";
import type { NetworkQuestionPorts } from "./network-questions.ts";
import type { OpenOutput } from "./output-file.ts";

/** What running commands needs from around it. */
export interface ExecPorts {
  readonly platform: Pick<Platform, "clock" | "timers" | "ids" | "env" | "programs" | "dial">;
  readonly processes: ProcessManager;
  readonly supervisor: Supervisor;
  readonly logins: LoginEnvironments;
  /** The path of the shell that people use here. */
  readonly shell: string;
  /** The configuration as it is now. */
  environment(): { readonly policy: ShellEnvironmentPolicy; readonly secrets: ReadonlySet<string> };
  /** Whether a thread's commands see nothing of the user of this host, and so get nothing of their environment either. */
  isForeign(thread: ThreadState): boolean;
  /** Sends a warning to whoever follows a thread; false if nobody does. */
  warn(threadId: string, message: string): boolean;
  readonly openOutput: OpenOutput;
  /** What patches inside commands need. */
  readonly patches: PatchPorts;
  /** Whether a thread may run commands. */
  mayRun(thread: ThreadState): boolean;
  /**
   * What a command asks for beyond the thread's sandbox and does not have; a string says why it cannot be given.
   * `from`: where relative paths begin.
   */
  wantedPermissions(
    thread: ThreadState,
    asked: AskedPermissions,
    from: string,
  ): Promise<Permissions | string>;
  /** Whether a command may run, and where. */
  consent(thread: ThreadState, command: AskedCommand): Promise<Consent>;
  /** Whether something may be written to a background terminal. */
  consentToInput(thread: ThreadState, terminal: TerminalState, chars: string): Promise<Consent>;
  /** What a command does, for people. */
  actions(text: string, cwd: string): Promise<CommandAction[]>;
  /** Allows commands that begin with these words, for good. */
  addRule(prefix: readonly string[]): Promise<void>;
  /** Decides about a host, for good. */
  addNetworkRule(rule: DueNetworkRule): Promise<void>;
  /** Whether a host is allowed by itself, and not by a pattern: only then it may be an address that is not public. */
  isListedHost(thread: ThreadState, hosts: HostRules, host: string): Promise<boolean>;
  readonly network: NetworkQuestionPorts;
  /** How a program is started so that it can do what the thread may do, and what `permissions` add; `outside`: as it is. */
  confine(
    thread: ThreadState,
    program: ProgramStart,
    how: {
      readonly outside: boolean;
      readonly text: string;
      readonly permissions?: Permissions | undefined;
    },
  ): Promise<ConfinedProgram>;
}

export interface AskedCommand {
  readonly text: string;
  /** It is to run outside of the sandbox. */
  readonly escalate: boolean;
  readonly justification: string | null;
  readonly prefixRule: readonly string[] | null;
  readonly workdir: string;
  /** The shell that the model chose, if it did. */
  readonly shell: string | null;
  /** What it is to get beyond the sandbox while it stays in it. */
  readonly additional: Permissions | null;
}

export type ConfinedProgram =
  | {
      readonly kind: "program";
      readonly program: ProgramStart;
      /** The rules for hosts of a program that has the network by host; null for all others. */
      readonly hosts: HostRules | null;
      /** Called once the program is gone; what it resolves to is added to the output. */
      release(): Promise<string | undefined>;
    }
  | ({ readonly kind: "unavailable" } & SandboxProblem);
