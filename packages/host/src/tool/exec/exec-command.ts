import { endedCommand } from "../../core/terminals/command-end.ts";
import type { HostRules } from "../../sandbox/network/hosts.ts";
import { type Invocation, type LiveOutput, refusal, type Step, type Tool } from "../tool.ts";
import { type CommandPlan, decideCommand, heardAboutCommand } from "./command-consent.ts";
import { commandProgram } from "./command-program.ts";
import type { EnvironmentNotes } from "./environment-notes.ts";
import { argumentsOf, EXEC_PARAMETERS, shellOf, workdirOf } from "./exec-arguments.ts";
import { modelOutput } from "./model-output.ts";
import type { NetworkQuestions } from "./network-questions.ts";
import { OutputFile } from "./output-file.ts";
import type { ExecPorts } from "./ports.ts";
import { type CommandProcess, RunningCommand } from "./running-command.ts";
import { serveNetwork } from "./served-network.ts";
import { startedItem } from "./shown-command.ts";
import type { ThreadCommands } from "./thread-commands.ts";
import { yieldTime } from "./yield-time.ts";

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
    parameters: EXEC_PARAMETERS,
    spec: {
      kind: "function",
      name: "exec_command",
      namespace: null,
      description:
        "Runs a command in a shell, and gives you its output. A command that takes longer goes on, and you get a session ID for write_stdin.",
      parameters: EXEC_PARAMETERS,
      strict: false,
    },
    async begin(invocation) {
      if (commands.count(invocation.thread.facts.id) >= MAX_COMMANDS)
        return refusal(
          `${MAX_COMMANDS} commands are running already. Wait for one of them, or end one with write_stdin.`,
        );
      return decideCommand(ports, invocation);
    },
    heard: (invocation, question, answer) => heardAboutCommand(ports, invocation, question, answer),
    perform: (invocation, signal, live) =>
      perform(ports, commands, questions, notes, invocation, signal, live),
  };
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
      return failed(
        ports,
        invocation,
        processId,
        `The command was not run: ${confined.reason}. ${confined.advice}`,
      );
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
    return failed(ports, invocation, processId, `The command cannot be started: ${(cause as Error).message}`);
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
  const item = endedCommand(startedItem(ports, invocation, processId), now, end);
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

function outputFile(ports: ExecPorts, { thread, call }: Invocation): OutputFile | undefined {
  if (thread.facts.ephemeral) return undefined;
  return new OutputFile(() => ports.openOutput(thread.facts.id, `${call.callId}.txt`));
}

function failed(ports: ExecPorts, invocation: Invocation, processId: string, output: string): Step {
  const end = { exitCode: -1, output };
  const item = endedCommand(startedItem(ports, invocation, processId), invocation.now, end);
  return { kind: "settle", output, success: false, item };
}
