import { resolve } from "node:path";
import { wordProblem } from "../../process/program-argument-check.ts";
import { PERMISSION_PARAMETERS } from "../own/permission-arguments.ts";
import type { Invocation } from "../tool.ts";
import type { AdditionalArguments } from "./additional-permissions.ts";
import type { ExecPorts } from "./exec-dependencies.ts";

/** JSON Schema of the arguments of `exec_command`, as models see it. */
export const EXEC_PARAMETERS = {
  type: "object",
  properties: {
    cmd: { type: "string", description: "The command, as it is typed in a shell." },
    workdir: { type: "string", description: "Where it runs; the working folder if nothing is said." },
    shell: { type: "string", description: "The path of another shell than the user's." },
    login: { type: "boolean", description: "Whether the shell is a login shell. True if nothing is said." },
    tty: {
      type: "boolean",
      description:
        "Whether it runs in a terminal, so that input can be written to it. False if nothing is said.",
    },
    yield_time_ms: {
      type: "number",
      description:
        "How long to wait for its end. After that it goes on, and you get what it has written so far and a session ID.",
    },
    max_output_tokens: {
      type: "number",
      description: "How much of its output you get; the rest is cut out of the middle.",
    },
    sandbox_permissions: {
      type: "string",
      enum: ["use_default", "with_additional_permissions", "require_escalated"],
      description:
        "`with_additional_permissions` asks the user to give it `additional_permissions` in the sandbox; `require_escalated` to let it run outside of the sandbox, only for what cannot work inside.",
    },
    justification: {
      type: "string",
      description: "A short question to the user that says what it is for, if the user is to be asked.",
    },
    additional_permissions: {
      ...PERMISSION_PARAMETERS,
      description: "With `with_additional_permissions`: the network, or paths to write to.",
    },
    prefix_rule: {
      type: "array",
      items: { type: "string" },
      description:
        "With `require_escalated`: the first words of the command, if the user may allow all commands that begin with them.",
    },
  },
  required: ["cmd"],
  additionalProperties: false,
};

/** The arguments of `exec_command` after validation against the schema. */
interface ExecArguments extends AdditionalArguments {
  readonly cmd: string;
  readonly workdir?: string;
  readonly shell?: string;
  readonly login?: boolean;
  readonly tty?: boolean;
  readonly yield_time_ms?: number;
  readonly max_output_tokens?: number;
  readonly justification?: string;
  readonly prefix_rule?: readonly string[];
}

export function argumentsOf({ args }: Invocation): ExecArguments {
  return args as ExecArguments;
}

/** Why the arguments are no valid command; null if they are. */
export function oddInput({ cmd, workdir, shell }: ExecArguments): string | null {
  if (cmd.trim() === "") return "`cmd` is empty";
  if (shell === "") return "`shell` is empty; leave it out to use the user's shell";
  const bad = wordProblem({ cmd, workdir, shell });
  return bad === null ? null : `\`${bad.name}\` ${bad.problem}`;
}

export function workdirOf(invocation: Invocation): string {
  return resolve(invocation.thread.settings.cwd, argumentsOf(invocation).workdir ?? ".");
}

export function shellOf(
  ports: ExecPorts,
  invocation: Invocation,
): { readonly shell: string; readonly login: boolean } {
  const { shell = ports.commandShell, login = true } = argumentsOf(invocation);
  return { shell, login };
}
