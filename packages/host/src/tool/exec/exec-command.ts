import { endedCommand } from "../../core/terminals/command-end.ts";
import type { HostRules } from "../../sandbox/network/host-rules.ts";
import {
  type Invocation,
  type LiveOutput,
  PLAN_DAMAGED,
  planOf,
  refusal,
  type Step,
  type Tool,
} from "../tool.ts";
import { COMMAND_PLAN, decideAfterAnswer, decideCommand } from "./command-consent.ts";
import { commandProgram } from "./command-program.ts";
import type { EnvironmentVariableNotes } from "./environment-variable-notes.ts";
import { argumentsOf, EXEC_PARAMETERS, shellOf, workdirOf } from "./exec-arguments.ts";
import { startedItem } from "./exec-call-item.ts";
import type { ExecPorts } from "./exec-dependencies.ts";
import type { NetworkApprovals } from "./network-approvals.ts";
import { OutputFile } from "./output-file.ts";
import { chunkIdOf, modelOutput } from "./output-for-model.ts";
import { type CommandProcess, RunningCommand } from "./running-command.ts";
import { serveNetwork } from "./serve-network.ts";
import type { ThreadCommands } from "./thread-commands.ts";
import { yieldTime } from "./yield-time.ts";

/** Bounds of `yield_time_ms`: how long a call waits for the command's end. */
const YIELD_MS = { usual: 10_000, min: 250, max: 30_000 };
/** Limit on the wait for a user's answer to a network question: a year. */
const ANSWER_MS = 365 * 24 * 3_600_000;
/** Limit on the running commands per thread. */
const MAX_COMMANDS = 64;

/**
 * The tool `exec_command`: runs a command in a shell. A command that is still running after the yield time becomes
 * a background terminal.
 */
export function execCommand(
  ports: ExecPorts,
  commands: ThreadCommands,
  questions: NetworkApprovals,
  notes: EnvironmentVariableNotes,
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
      return decideCommand(ports, invocation, (problem) =>
        notes.warnUnconfined(invocation.thread.facts.id, problem),
      );
    },
    heard: (invocation, question, answer) => decideAfterAnswer(ports, invocation, question, answer),
    perform: (invocation, signal, live) =>
      perform(ports, commands, questions, notes, invocation, signal, live),
  };
}

async function perform(
  ports: ExecPorts,
  commands: ThreadCommands,
  questions: NetworkApprovals,
  notes: EnvironmentVariableNotes,
  invocation: Invocation,
  signal: AbortSignal,
  live: LiveOutput,
): Promise<Step> {
  const { thread, turnId, call } = invocation;
  const plan = planOf(COMMAND_PLAN, invocation);
  if (plan === undefined) return refusal(PLAN_DAMAGED);
  const { processId, outside, permissions } = plan;
  const { cmd, tty = false, yield_time_ms: yieldMs, max_output_tokens: maxTokens } = argumentsOf(invocation);
  const itemId = call.callId;
  if (!(await commands.stays(thread.facts.id, signal))) throw signal.reason;
  const startedAt = ports.platform.clock.now();
  let running: RunningCommand;
  let note: string | undefined;
  const owner = commands.owner(thread.facts.id);
  const startSettled = commands.announceStart(thread.facts.id);
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
      owner,
      command: cmd,
      program: confined.program,
      release: confined.release,
      ...serving(ports, questions, invocation, confined.hosts),
      turnId,
      itemId,
      file: outputFile(ports, invocation),
      live,
    });
    commands.add(thread.facts.id, itemId, running);
  } catch (cause) {
    return failed(ports, invocation, processId, `exec_command failed: ${(cause as Error).message}`);
  } finally {
    startSettled();
  }
  await running.waitFor(yieldTime(yieldMs, YIELD_MS), signal);
  // The time that a user takes to answer a network question does not count as yield time.
  for (;;) {
    const settled = questions.waitsFor(thread.facts.id, itemId);
    if (settled === undefined || running.isOver || signal.aborted) break;
    await running.waitFor(ANSWER_MS, AbortSignal.any([signal, whenSettled(settled)]));
    await running.waitFor(yieldTime(yieldMs, YIELD_MS), signal);
  }
  const stays = await commands.stays(thread.facts.id, signal);
  if (signal.aborted || !stays) {
    running.terminate();
    // The command stays listed until it has ended, because unloading the thread waits for all listed commands.
    const unlisted = running.ended.then(() => commands.delete(thread.facts.id, itemId));
    ports.supervisor.take("a command that was given up", unlisted);
    throw signal.reason;
  }
  const now = ports.platform.clock.now();
  const end = running.isOver ? await running.ended : undefined;
  const output = await modelOutput({
    chunkId: chunkIdOf(ports.platform.ids.integer()),
    unread: running.takeUnread(),
    tookMs: now - startedAt,
    exitCode: end?.exitCode,
    processId,
    maxTokens,
    save: () => running.saveOutput(),
    notes: [
      ...(note === undefined ? [] : [note]),
      ...(running.lacksTerminal ? ["This machine has no terminals, so the command runs on pipes."] : []),
    ],
  });
  if (end === undefined) {
    // Input could make the command use the additional permissions that it got, so later input needs approval, too.
    const left = { processId, outside: outside || permissions !== undefined };
    return { kind: "settle", output, success: true, left };
  }
  commands.delete(thread.facts.id, itemId);
  const item = endedCommand(startedItem(ports, invocation, processId), now, end);
  return { kind: "settle", output, success: true, item };
}

function serving(
  ports: ExecPorts,
  questions: NetworkApprovals,
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
