import type { RequestAnswer } from "../../core/requests/records.ts";
import type { TerminalState } from "../../core/terminals/records.ts";
import { decisionOf } from "../consent/approval-answer.ts";
import { visibleJson } from "../consent/visible-text.ts";
import { type Invocation, refusal, type Step, type Tool } from "../tool.ts";
import type { ExecPorts } from "./exec-dependencies.ts";
import { chunkIdOf, modelOutput } from "./output-for-model.ts";
import type { ThreadCommands } from "./thread-commands.ts";
import { yieldTime } from "./yield-time.ts";

const parameters = {
  type: "object",
  properties: {
    session_id: { type: "number", description: "The session ID that exec_command gave you." },
    chars: {
      type: "string",
      description: "What is written to the command; nothing if you only want to see what it has written.",
    },
    yield_time_ms: { type: "number", description: "How long to wait for more output, or for its end." },
    max_output_tokens: {
      type: "number",
      description: "How much of the output you get; the rest is cut out of the middle.",
    },
  },
  required: ["session_id"],
  additionalProperties: false,
};

interface Arguments {
  readonly session_id: number;
  readonly chars?: string;
  readonly yield_time_ms?: number;
  readonly max_output_tokens?: number;
}

/** Bounds of `yield_time_ms` for calls with input, and for calls that only read. */
const AFTER_INPUT_MS = { usual: 250, min: 250, max: 30_000 };
const READ_ONLY_MS = { usual: 5_000, min: 5_000, max: 300_000 };
const CTRL_C = "\u0003";

/** The tool `write_stdin`: writes to a background terminal, or reads its new output. */
export function writeStdin(ports: ExecPorts, commands: ThreadCommands): Tool {
  return {
    name: "write_stdin",
    namespace: null,
    parameters,
    spec: {
      kind: "function",
      name: "write_stdin",
      namespace: null,
      description:
        "Writes to a command that exec_command has left running, and gives you what it has written since. Without chars it only waits and looks. \\u0003 interrupts the command.",
      parameters,
      strict: false,
    },
    async begin(invocation) {
      const { chars = "" } = argumentsOf(invocation);
      const terminal = terminalOf(invocation);
      const running = terminal && commands.get(invocation.thread.facts.id, terminal.item.id);
      if (terminal === undefined || running === undefined) return unknown(invocation);
      if (chars !== "" && chars !== CTRL_C && !running.takesInput)
        return refusal(
          "write_stdin failed: stdin is closed for this session. Run the command again with tty=true to write to it.",
        );
      const consent = await ports.consentToInput(invocation.thread, terminal, chars);
      switch (consent.kind) {
        case "refuse":
          return refusal(consent.reason);
        case "ask":
          return {
            kind: "ask",
            question: questionAbout(terminal),
            ask: askAbout(invocation, terminal, consent.reason),
          };
        default:
          return dispatch(terminal, chars);
      }
    },
    heard: (invocation, { name }, answer) => heard(ports, invocation, name, answer),
    async perform(invocation, signal) {
      const { chars = "", yield_time_ms: ms, max_output_tokens: maxTokens } = argumentsOf(invocation);
      const terminal = terminalOf(invocation);
      const running = terminal && commands.get(invocation.thread.facts.id, terminal.item.id);
      if (terminal === undefined || running === undefined) return unknown(invocation);
      const { processId } = terminal;
      const startedAt = ports.platform.clock.now();
      try {
        if (chars === CTRL_C && !running.takesInput) running.interrupt();
        else if (chars !== "") await running.write(chars);
      } catch (cause) {
        if (!running.isOver) return refusal(`write_stdin failed: ${(cause as Error).message}`);
      }
      await running.waitFor(yieldTime(ms, chars === "" ? READ_ONLY_MS : AFTER_INPUT_MS), signal);
      if (signal.aborted) throw signal.reason;
      const end = running.isOver ? await running.ended : undefined;
      const output = await modelOutput({
        chunkId: chunkIdOf(ports.platform.ids.integer()),
        unread: running.takeUnread(),
        tookMs: ports.platform.clock.now() - startedAt,
        exitCode: end?.exitCode,
        processId,
        maxTokens,
        save: () => running.saveOutput(),
      });
      return {
        kind: "settle",
        output,
        success: true,
        ...(end !== undefined && { ended: { processId, end } }),
        // Lets clients show that the model waits for this terminal.
        ...(end === undefined && chars === "" && { looked: { processId } }),
      };
    },
  };
}

/** The approval question shows the input, as in the Codex CLI, and the command that gets the input. */
function askAbout(
  invocation: Invocation,
  { processId, item }: TerminalState,
  why: string | null,
): Extract<Step, { kind: "ask" }>["ask"] {
  const { chars = "" } = argumentsOf(invocation);
  // Shown as JSON, because a terminal would act on control characters instead of showing them.
  const command = `write_stdin --session-id ${processId} ${visibleJson(chars)}`;
  return {
    method: "item/commandExecution/requestApproval",
    params: {
      kind: "writeStdin",
      threadId: invocation.thread.facts.id,
      turnId: invocation.turnId,
      itemId: item.id,
      approvalId: invocation.call.callId,
      startedAtMs: invocation.now,
      environmentId: "local",
      reason: `${why === null ? "" : `${why}. `}It was started as: ${item.command}`,
      command,
      cwd: item.cwd,
      commandActions: [{ type: "unknown", command }],
      availableDecisions: ["accept", "acceptForSession", "decline", "cancel"],
    },
  };
}

/** The name of the recorded question. It has the command that gets the input: a later one may have its session ID. */
function questionAbout({ item }: TerminalState): string {
  return `approval ${item.id}`;
}

async function heard(
  ports: ExecPorts,
  invocation: Invocation,
  name: string | undefined,
  answer: RequestAnswer,
): Promise<Step> {
  const { chars = "" } = argumentsOf(invocation);
  const terminal = terminalOf(invocation);
  if (terminal === undefined || (name !== undefined && name !== questionAbout(terminal)))
    return unknown(invocation);
  const decision = decisionOf("item/commandExecution/requestApproval", answer);
  if (decision.kind === "cancel") return { kind: "interrupt" };
  const consent = await ports.consentToInput(invocation.thread, terminal, chars);
  // The approval policy may have changed since the question.
  if (consent.kind === "refuse") return refusal(consent.reason);
  switch (decision.kind) {
    case "accept":
      return dispatch(terminal, chars);
    case "acceptForSession":
      return { ...dispatch(terminal, chars), ...(consent.kind === "ask" && { grant: consent.grant }) };
    default:
      return refusal(
        `Nothing was written: ${decision.kind === "decline" ? decision.words : "the answer does not fit the question."}`,
      );
  }
}

/**
 * The input is recorded before it is written, so that clients see it and no host writes it again after a crash. It may
 * make the command change files, also in a turn after that of the command.
 */
function dispatch({ processId }: TerminalState, stdin: string): Extract<Step, { kind: "dispatch" }> {
  if (stdin === "") return { kind: "dispatch", again: false };
  return { kind: "dispatch", again: false, input: { processId, stdin }, changes: "workspace" };
}

function argumentsOf({ args }: Invocation): Arguments {
  return args as Arguments;
}

function terminalOf(invocation: Invocation): TerminalState | undefined {
  const processId = String(argumentsOf(invocation).session_id);
  return invocation.thread.terminals.find((terminal) => terminal.processId === processId);
}

function unknown(invocation: Invocation): Step {
  return refusal(
    `write_stdin failed: Unknown process id ${argumentsOf(invocation).session_id}. It has ended, or was never there.`,
  );
}
