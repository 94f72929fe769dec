import { resolve } from "node:path";
import type { RequestAnswer } from "../../core/requests/records.ts";
import { endedCommand } from "../../core/terminals/command-end.ts";
import type { CommandItem } from "../../core/terminals/records.ts";
import { wordProblem } from "../../process/program-words.ts";
import type { HostRules } from "../../sandbox/network/hosts.ts";
import { decisionOf } from "../consent/answer.ts";
import type { Consent } from "../consent/consent.ts";
import { stdinGrant } from "../consent/grants.ts";
import type { Permissions } from "../consent/permissions.ts";
import {
  type AskedQuestion,
  type Invocation,
  type LiveOutput,
  refusal,
  type Step,
  type Tool,
} from "../tool.ts";
import { PERMISSION_PARAMETERS, permissionsView } from "../wanted-permissions.ts";
import { type AdditionalArguments, additionalPermissions, questionAbout } from "./additional-permissions.ts";
import { commandItem, declinedCommand } from "./command-item.ts";
import { commandProgram } from "./command-program.ts";
import type { EnvironmentNotes } from "./environment-notes.ts";
import { modelOutput } from "./model-output.ts";
import type { NetworkQuestions } from "./network-questions.ts";
import { OutputFile } from "./output-file.ts";
import type { ExecPorts } from "./ports.ts";
import { type CommandProcess, RunningCommand } from "./running-command.ts";
import { serveNetwork } from "./served-network.ts";
import { shellLine } from "./shell-line.ts";
import type { ThreadCommands } from "./thread-commands.ts";

export const parameters = {
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

interface Arguments extends AdditionalArguments {
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

/** What the dispatch of a command is recorded with. */
interface CommandPlan {
  readonly processId: string;
  readonly outside: boolean;
  /** What it gets beyond the sandbox while it stays in it. */
  readonly permissions?: Permissions;
}

const YIELD_MS = { usual: 10_000, min: 250, max: 30_000 };
/** Longer than anybody takes to answer. */
const ANSWER_MS = 365 * 24 * 3_600_000;
/** How many commands a thread may have at once. */
const MAX_COMMANDS = 64;

/** `exec_command`: runs a command in a shell. */
export function execCommand(
  ports: ExecPorts,
  commands: ThreadCommands,
  questions: NetworkQuestions,
  notes: EnvironmentNotes,
): Tool {
  return {
    name: "exec_command",
    namespace: null,
    parameters,
    spec: {
      kind: "function",
      name: "exec_command",
      namespace: null,
      description:
        "Runs a command in a shell, and gives you its output. A command that takes longer goes on, and you get a session ID for write_stdin.",
      parameters,
      strict: false,
    },
    async begin(invocation) {
      const { thread } = invocation;
      if (commands.count(thread.facts.id) >= MAX_COMMANDS)
        return refusal(
          `${MAX_COMMANDS} commands are running already. Wait for one of them, or end one with write_stdin.`,
        );
      const odd = oddInput(argumentsOf(invocation));
      if (odd !== null) return refusal(`The command was not run: ${odd}.`);
      const additional = await additionalPermissions(
        ports,
        invocation.thread,
        argumentsOf(invocation),
        workdirOf(invocation),
      );
      if (typeof additional === "string") return refusal(`The command was not run: ${additional}`);
      const consent = await consentTo(ports, invocation, additional);
      switch (consent.kind) {
        case "refuse":
          return refusal(consent.reason);
        case "ask":
          return {
            kind: "ask",
            question: questionAbout(additional),
            item: await shownCommand(ports, invocation, null),
            ask: await askAbout(ports, invocation, consent, additional),
          };
        case "sandboxed":
        case "unsandboxed":
          return dispatch(ports, invocation, placeOf(consent.kind, additional));
      }
    },
    heard: (invocation, question, answer) => heard(ports, invocation, question, answer),
    perform: (invocation, signal, live) =>
      perform(ports, commands, questions, notes, invocation, signal, live),
  };
}

async function heard(
  ports: ExecPorts,
  invocation: Invocation,
  { name }: AskedQuestion,
  answer: RequestAnswer,
): Promise<Step> {
  const decision = decisionOf("item/commandExecution/requestApproval", answer);
  const declined = (output: string): Step => ({
    kind: "settle",
    output,
    success: false,
    item: declinedCommand(shownItem(invocation), invocation.now),
  });
  if (decision.kind === "cancel")
    return { kind: "interrupt", item: declinedCommand(shownItem(invocation), invocation.now) };
  const additional = await additionalPermissions(
    ports,
    invocation.thread,
    argumentsOf(invocation),
    workdirOf(invocation),
  );
  if (typeof additional === "string") return declined(`The command was not run: ${additional}`);
  // A path may lead elsewhere than when the user was asked about it.
  if (name !== undefined && name !== questionAbout(additional))
    return declined("The command was not run: what it asks for has changed since the user was asked.");
  const consent = await consentTo(ports, invocation, additional);
  // Rules may have changed since it was asked about.
  if (consent.kind === "refuse") return declined(consent.reason);
  const place = placeOf(consent.kind === "ask" ? consent.runs : consent.kind, additional);
  switch (decision.kind) {
    case "accept":
      return dispatch(ports, invocation, place);
    case "acceptWithRule":
      await addRule(ports, consent, decision.prefix);
      return dispatch(ports, invocation, place);
    case "acceptForSession": {
      const step = await dispatch(ports, invocation, place);
      return consent.kind === "ask" ? { ...step, grant: consent.grant } : step;
    }
    case "networkRule":
      return declined("The command was not run: the answer does not fit the question.");
    case "decline":
      return declined(`The command was not run: ${decision.words}`);
  }
}

/** Where a command runs that has consent. */
function placeOf(
  kind: "sandboxed" | "unsandboxed",
  additional: Permissions | null,
): Pick<CommandPlan, "outside" | "permissions"> {
  if (kind === "unsandboxed") return { outside: true };
  return { outside: false, ...(additional !== null && { permissions: additional }) };
}

async function dispatch(
  ports: ExecPorts,
  invocation: Invocation,
  plan: Omit<CommandPlan, "processId">,
): Promise<Extract<Step, { kind: "dispatch" }>> {
  const processId = freeProcessId(ports, invocation);
  const recorded: CommandPlan = { processId, ...plan };
  const item = await shownCommand(ports, invocation, processId);
  // What was shown when the user was asked stays as it is.
  return {
    kind: "dispatch",
    again: false,
    plan: recorded,
    item,
    ...(mayChange(item) && { changes: "workspace" }),
  };
}

/** Whether a command may change files: one that only reads needs no copy of what was there before. */
function mayChange({ commandActions }: CommandItem): boolean {
  return commandActions.some(({ type }) => type === "unknown");
}

/** A number that models can repeat without mistakes. */
function freeProcessId({ platform }: ExecPorts, { thread }: Invocation): string {
  for (;;) {
    const processId = String(1000 + (platform.ids.integer() % 99_000));
    const isTaken = thread.terminals.some((terminal) => terminal.processId === processId);
    // What was granted for a process that is gone is for no other one.
    if (!isTaken && !thread.grants.includes(stdinGrant(processId))) return processId;
  }
}

async function perform(
  ports: ExecPorts,
  commands: ThreadCommands,
  questions: NetworkQuestions,
  notes: EnvironmentNotes,
  invocation: Invocation,
  signal: AbortSignal,
  live: LiveOutput,
): Promise<Step> {
  const { thread, turnId, call, plan: recorded } = invocation;
  const { processId, outside, permissions } = recorded as CommandPlan;
  const { cmd, tty = false, yield_time_ms: yieldMs, max_output_tokens: maxTokens } = argumentsOf(invocation);
  const itemId = call.callId;
  const startedAt = ports.platform.clock.now();
  let running: RunningCommand;
  let note: string | undefined;
  try {
    const { program, removed, problem } = await commandProgram(ports, thread, {
      text: cmd,
      tty,
      cwd: workdirOf(invocation),
      ...shellOf(ports, invocation),
    });
    note = notes.noteFor(thread.facts.id, removed);
    notes.warnOfLogin(thread.facts.id, problem);
    const confined = await ports.confine(thread, program, { outside, text: cmd, permissions });
    if (confined.kind === "unavailable")
      return failed(invocation, processId, `The command was not run: ${confined.reason}. ${confined.advice}`);
    running = await RunningCommand.start(ports, {
      owner: commands.owner(thread.facts.id),
      command: cmd,
      program: confined.program,
      release: confined.release,
      ...serving(ports, questions, invocation, confined.hosts),
      turnId,
      itemId,
      file: outputFile(ports, invocation),
      live,
    });
  } catch (cause) {
    return failed(invocation, processId, `The command cannot be started: ${(cause as Error).message}`);
  }
  commands.add(thread.facts.id, itemId, running);
  await running.waitFor(yieldTime(yieldMs, YIELD_MS), signal);
  // Time in which somebody thinks about a question is not the command's.
  for (;;) {
    const settled = questions.waitsFor(thread.facts.id, itemId);
    if (settled === undefined || running.isOver || signal.aborted) break;
    await running.waitFor(ANSWER_MS, AbortSignal.any([signal, whenSettled(settled)]));
    await running.waitFor(yieldTime(yieldMs, YIELD_MS), signal);
  }
  if (signal.aborted) {
    commands.delete(thread.facts.id, itemId);
    running.terminate();
    throw signal.reason;
  }
  const now = ports.platform.clock.now();
  const end = running.isOver ? await running.ended : undefined;
  const output = modelOutput({
    unread: running.takeUnread(),
    tookMs: now - startedAt,
    exitCode: end?.exitCode,
    processId,
    maxTokens,
    path: running.file?.path,
    note,
  });
  if (end === undefined) {
    // Input could make it do anything with what it got for this command.
    const left = { processId, outside: outside || permissions !== undefined };
    return { kind: "settle", output, success: true, left };
  }
  commands.delete(thread.facts.id, itemId);
  const item = endedCommand(startedItem(invocation, processId), now, end);
  return { kind: "settle", output, success: true, item };
}

function serving(
  ports: ExecPorts,
  questions: NetworkQuestions,
  { thread, call }: Invocation,
  hosts: HostRules | null,
): Pick<CommandProcess, "serve"> {
  if (hosts === null) return {};
  const command = { thread, itemId: call.callId, hosts };
  return { serve: (channel) => serveNetwork(ports, questions, command, channel) };
}

function whenSettled(settled: Promise<void>): AbortSignal {
  const controller = new AbortController();
  settled.then(
    () => controller.abort(),
    () => controller.abort(),
  );
  return controller.signal;
}

/**
 * Only what was offered is added: a client may answer with any words. A rule that cannot be saved stops no command.
 * It is added before the command is dispatched, which no host does again: a rule is for all commands, so it must not
 * be lost with this one.
 */
async function addRule(ports: ExecPorts, consent: Consent, rule: readonly string[]): Promise<void> {
  if (consent.kind !== "ask" || JSON.stringify(consent.amendment) !== JSON.stringify(rule)) return;
  await ports.addRule(rule).catch((cause) => ports.supervisor.report("adding a rule", cause));
}

/** A time that a model chose, within bounds. */
export function yieldTime(
  ms: number | undefined,
  { usual, min, max }: { readonly usual: number; readonly min: number; readonly max: number },
): number {
  return Math.min(max, Math.max(min, ms ?? usual));
}

function outputFile(ports: ExecPorts, { thread, call }: Invocation): OutputFile | undefined {
  if (thread.facts.ephemeral) return undefined;
  return new OutputFile(() => ports.openOutput(thread.facts.id, `${call.callId}.txt`));
}

function argumentsOf({ args }: Invocation): Arguments {
  return args as Arguments;
}

/** Why arguments name nothing that can be run; null if they do. */
function oddInput({ cmd, workdir, shell }: Arguments): string | null {
  if (cmd.trim() === "") return "`cmd` is empty";
  if (shell === "") return "`shell` is empty; leave it out to use the user's shell";
  const bad = wordProblem({ cmd, workdir, shell });
  return bad === null ? null : `\`${bad.name}\` ${bad.problem}`;
}

function workdirOf(invocation: Invocation): string {
  return resolve(invocation.thread.settings.cwd, argumentsOf(invocation).workdir ?? ".");
}

function shellOf(
  ports: ExecPorts,
  invocation: Invocation,
): { readonly shell: string; readonly login: boolean } {
  const { shell = ports.shell, login = true } = argumentsOf(invocation);
  return { shell, login };
}

async function consentTo(
  ports: ExecPorts,
  invocation: Invocation,
  additional: Permissions | null,
): Promise<Consent> {
  const {
    cmd,
    sandbox_permissions: asked,
    justification = null,
    prefix_rule: prefixRule = null,
    shell = null,
  } = argumentsOf(invocation);
  return ports.consent(invocation.thread, {
    text: cmd,
    escalate: asked === "require_escalated",
    justification,
    prefixRule,
    workdir: workdirOf(invocation),
    shell,
    additional,
  });
}

async function shownCommand(
  ports: ExecPorts,
  invocation: Invocation,
  processId: string | null,
): Promise<CommandItem> {
  const { cmd } = argumentsOf(invocation);
  const { shell, login } = shellOf(ports, invocation);
  const cwd = workdirOf(invocation);
  return commandItem(
    {
      id: invocation.call.callId,
      command: shellLine(shell, cmd, login).shown,
      cwd,
      commandActions: await ports.actions(cmd, cwd),
      source: processId === null ? "agent" : "unifiedExecStartup",
      processId,
    },
    invocation.startedAt,
  );
}

async function askAbout(
  ports: ExecPorts,
  invocation: Invocation,
  { reason, amendment, runs }: Extract<Consent, { kind: "ask" }>,
  additional: Permissions | null,
): Promise<Extract<Step, { kind: "ask" }>["ask"]> {
  const { thread, turnId, call, now } = invocation;
  const { command, cwd, commandActions } = await shownCommand(ports, invocation, null);
  return {
    method: "item/commandExecution/requestApproval",
    params: {
      kind: "command",
      threadId: thread.facts.id,
      turnId,
      itemId: call.callId,
      startedAtMs: now,
      environmentId: "local",
      reason,
      command,
      cwd,
      commandActions,
      ...(additional !== null &&
        runs === "sandboxed" && { additionalPermissions: permissionsView(additional) }),
      ...(amendment !== null && { proposedExecpolicyAmendment: [...amendment] }),
      availableDecisions: [
        "accept",
        "acceptForSession",
        ...(amendment === null
          ? []
          : [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: [...amendment] } }]),
        "decline",
        "cancel",
      ],
    },
  };
}

/** The item as clients were shown it. */
function shownItem({ thread, call }: Invocation): CommandItem {
  return thread.turn?.open.find(({ id }) => id === call.callId) as CommandItem;
}

function startedItem(invocation: Invocation, processId: string): CommandItem {
  return { ...shownItem(invocation), processId, source: "unifiedExecStartup" };
}

function failed(invocation: Invocation, processId: string, output: string): Step {
  const end = { exitCode: -1, output };
  const item = endedCommand(startedItem(invocation, processId), invocation.now, end);
  return { kind: "settle", output, success: false, item };
}
