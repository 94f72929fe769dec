import type { CommandAction } from "@bobbin/protocol";
import type { DueNetworkRule } from "../../core/requests/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { TerminalState } from "../../core/terminals/records.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Platform, ProgramStart } from "../../platform/platform.ts";
import type { ShellEnvironmentPolicy } from "../../process/command-environment.ts";
import type { LoginEnvironments } from "../../process/login-shell-environment.ts";
import type { ProcessManager } from "../../process/process-manager.ts";
import type { HostRules } from "../../sandbox/network/host-rules.ts";
import type { SandboxProblem } from "../../sandbox/sandbox.ts";
import type { Consent } from "../consent/consent.ts";
import type { Permissions } from "../consent/permissions.ts";
import type { AskedPermissions } from "../own/permission-arguments.ts";
import type { PatchPorts } from "../patch/apply-patch-tool.ts";
import type { NetworkApprovalPorts } from "./network-approvals.ts";
import type { OpenOutput } from "./output-file.ts";

/** The parts of the host that running commands needs. */
export interface ExecPorts {
  readonly platform: Pick<Platform, "clock" | "timers" | "ids" | "env" | "programs" | "dial">;
  readonly processes: ProcessManager;
  readonly supervisor: Supervisor;
  readonly logins: LoginEnvironments;
  /** The path of the user's shell. */
  readonly shell: string;
  /** The path of the shell that runs the model's commands if the model names none. */
  readonly commandShell: string;
  /**
   * The policy for environment variables, and the names of the variables with secrets of the host. With `threadId`,
   * those for this thread.
   */
  environment(threadId?: string): {
    readonly policy: ShellEnvironmentPolicy;
    readonly secrets: ReadonlySet<string>;
  };
  /**
   * Whether a thread belongs to a subject, not to the host's user. Its commands see neither the user's files nor the
   * user's environment.
   */
  isForeign(thread: ThreadState): boolean;
  /** Sends a warning to a thread's subscribers; returns false if there are none. */
  warn(threadId: string, message: string): boolean;
  readonly openOutput: OpenOutput;
  /** The parts of the host that apply patches found inside commands. */
  readonly patches: PatchPorts;
  /** Called when a thread is loaded, before its model does anything. */
  loaded(thread: ThreadState): void;
  unloaded(threadId: string): void;
  mayRun(thread: ThreadState): boolean;
  /**
   * The permissions that a command asks for and that the thread's sandbox does not give. A string: the reason why
   * they cannot be granted. `from`: the folder that relative paths start from.
   */
  wantedPermissions(
    thread: ThreadState,
    asked: AskedPermissions,
    from: string,
  ): Promise<Permissions | string>;
  /** Decides whether a command may run, and whether inside or outside of the sandbox. */
  consent(thread: ThreadState, command: AskedCommand): Promise<Consent>;
  /** Decides whether input may be written to a background terminal. */
  consentToInput(thread: ThreadState, terminal: TerminalState, chars: string): Promise<Consent>;
  /** What a command does (reads, lists, searches) in the shell that runs it, for clients to show. */
  actions(text: string, cwd: string, shell: string): Promise<CommandAction[]>;
  /** Whether a command certainly changes no files in the shell that runs it. */
  onlyReads(text: string, shell: string): Promise<boolean>;
  /** Saves a rule that allows commands that begin with these words. */
  addRule(prefix: readonly string[]): Promise<void>;
  /** Saves a rule that allows or forbids a host. */
  addNetworkRule(rule: DueNetworkRule): Promise<void>;
  /**
   * Whether a rule allows a host by its exact name, not by a pattern. Only such a host may resolve to an address that
   * is not public.
   */
  isListedHost(thread: ThreadState, hosts: HostRules, host: string): Promise<boolean>;
  readonly network: NetworkApprovalPorts;
  /**
   * Wraps a program in the thread's sandbox, widened by `permissions`. With `outside`, the program is returned
   * unchanged.
   */
  confine(
    thread: ThreadState,
    program: ProgramStart,
    how: {
      readonly outside: boolean;
      readonly text: string;
      readonly permissions?: Permissions | undefined;
      /**
       * Whether the program is a hook. A hook can read the hooks folder. It has no network if the network is allowed
       * by host.
       */
      readonly isHook?: boolean;
    },
  ): Promise<ConfinedProgram>;
}

/** A command as `exec_command` asks for it. */
export interface AskedCommand {
  readonly text: string;
  /** Whether the model asks to run the command outside of the sandbox. */
  readonly escalate: boolean;
  readonly justification: string | null;
  readonly prefixRule: readonly string[] | null;
  readonly workdir: string;
  /** The shell that the model named; null for the user's shell. */
  readonly shell: string | null;
  /** Permissions that widen the sandbox for this command. */
  readonly additional: Permissions | null;
}

/** A program with the sandbox around it, ready to start. */
export type ConfinedProgram =
  | {
      readonly kind: "program";
      readonly program: ProgramStart;
      /** The rules for network hosts, if each network host of the program is decided by itself (`byHost`); else null. */
      readonly hosts: HostRules | null;
      /**
       * Removes the sandbox after the program has ended. If it resolves to a text, the text is appended to the
       * output.
       */
      release(): Promise<string | undefined>;
    }
  | ({ readonly kind: "unavailable" } & SandboxProblem);
