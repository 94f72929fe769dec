import { createInterface } from "node:readline";
import { PromptArgumentsError } from "@bobbin/client";
import { NoAnswerError, RpcError } from "@bobbin/rpc";
import type { ChatLineEditor } from "./chat-line-editor.ts";
import type { ChatSession } from "./chat-session.ts";
import type { ChatSignals } from "./chat-signals.ts";
import { escapeControls, type Output } from "./terminal-output.ts";

/** Where a chat writes its output, and the signals that interrupt it. */
export interface ChatStreams {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signals: ChatSignals;
}

/** Reads messages from the terminal and runs their turns, until the user leaves. Resolves with the exit code. */
export async function runTerminalChat(
  session: ChatSession,
  prompt: ChatLineEditor,
  { stdout, stderr, signals }: ChatStreams,
): Promise<number> {
  for (;;) {
    while (session.isRunning && session.endReason === undefined && signals.exitCode === undefined)
      await signals.during(session, () => session.turnEnd());
    if (signals.exitCode !== undefined) return signals.exitCode;
    if (session.endReason !== undefined) {
      stderr.line(stderr.red(`bobbin: ${escapeControls(session.endReason)}`));
      return 1;
    }
    stdout.line("");
    // Other code withdraws the prompt to show something, such as a turn of another client.
    const typed = await prompt.read();
    if (typed.kind === "leave") return typed.byInterrupt ? 130 : 0;
    if (typed.kind === "withdrawn" || typed.text.trim() === "") continue;
    const command = /^\/(\w+)\s*(.*)$/s.exec(typed.text);
    if (typed.text.startsWith("/prompts:"))
      await explained(stderr, () => signals.during(session, () => session.sendPrompt(typed.text)));
    else if (command === null) await send(session, typed.text, signals, stderr);
    else {
      const [, name = "", rest = ""] = command;
      if (name === "quit" || name === "exit") return 0;
      await explained(stderr, () => signals.unlessEnded(runSlashCommand(name, rest.trim(), session, stderr)));
    }
  }
}

/**
 * Sends every line of stdin as a message, for a chat without a terminal. Resolves with the exit code: 1 if a turn does
 * not complete.
 */
export async function runPipedChat(session: ChatSession, { signals, stderr }: ChatStreams): Promise<number> {
  let code = 0;
  await signals.during(session, () => session.turnEnd());
  const lines = createInterface({ input: process.stdin, terminal: false });
  signals.ended.addEventListener("abort", () => lines.close(), { once: true });
  for await (const line of lines) {
    if (line.trim() === "") continue;
    if (!(await send(session, line, signals, stderr))) code = 1;
    if (signals.exitCode !== undefined) return signals.exitCode;
    if (session.endReason !== undefined) {
      stderr.line(`bobbin: ${escapeControls(session.endReason)}`);
      return 1;
    }
  }
  return signals.exitCode ?? code;
}

const SLASH_HELP = `/name NAME   name this thread
/prompts     list saved prompts; /prompts:NAME ARGUMENTS sends one
/help        show this
/quit        leave (so does Ctrl-D)
Ctrl-C interrupts a turn. A line that ends with \\ goes on in the next one. To send
a message that begins with /, put a space before it.`;

async function runSlashCommand(
  name: string,
  rest: string,
  session: ChatSession,
  stderr: Output,
): Promise<void> {
  if (name === "name" && rest !== "") {
    await session.rename(rest);
    stderr.line(stderr.dim(`Named ${JSON.stringify(rest)}.`));
  } else if (name === "prompts" && rest === "") {
    for (const line of await session.prompts()) stderr.line(line);
  } else {
    if (name !== "help")
      stderr.line(name === "name" ? "The name is missing." : `There is no command /${name}.`);
    stderr.line(SLASH_HELP);
  }
}

/** Runs a turn. Resolves with whether it has completed. */
async function send(
  session: ChatSession,
  text: string,
  signals: ChatSignals,
  stderr: Output,
): Promise<boolean> {
  const status = await explained(stderr, () => signals.during(session, () => session.send(text)));
  return status === "completed";
}

/** Runs `work`. If the host refuses it, or a prompt lacks arguments, shows the error and resolves with undefined. */
async function explained<T>(stderr: Output, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (cause) {
    // The connection has ended, and with it the chat. The caller prints `endReason`.
    if (cause instanceof NoAnswerError) return undefined;
    if (!(cause instanceof RpcError || cause instanceof PromptArgumentsError)) throw cause;
    stderr.line(stderr.red(`bobbin: ${escapeControls(cause.message)}`));
    return undefined;
  }
}
