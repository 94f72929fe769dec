import type { ThreadState } from "../../core/state.ts";
import { messageOf } from "../../errors.ts";
import type { OutputPiece } from "../../platform/platform.ts";
import type { ManagedProcess } from "../../process/managed-process.ts";
import { commandProgram } from "./command-program.ts";
import type { ConfinedProgram, ExecPorts } from "./exec-dependencies.ts";
import type { ThreadCommands } from "./thread-commands.ts";

/** A command from the configuration (a hook). It has no item that clients could see. */
export interface HookShellCommand {
  readonly text: string;
  /** Written to the command's stdin, which is then closed. */
  readonly input: string;
  readonly timeoutMs: number;
}

export interface HookShellCommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /**
   * Why there is no usable exit code: the command could not be started, or exceeded its time limit. Null otherwise.
   */
  readonly error: string | null;
}

/** Limits on the output that is kept, in characters. The rest is dropped. */
const MAX_STDOUT = 256 * 1024;
const MAX_STDERR = 32 * 1024;

/**
 * Runs a command in a thread's sandbox with the thread's command environment. The command and all its child
 * processes end when the signal aborts, after `timeoutMs`, or when the thread is unloaded. Never rejects.
 */
export async function runHookCommand(
  ports: ExecPorts,
  commands: ThreadCommands,
  thread: ThreadState,
  command: HookShellCommand,
  signal: AbortSignal,
): Promise<HookShellCommandEnd> {
  const { id } = thread.facts;
  if (!(await commands.stays(id, signal))) return notRun("the thread is being unloaded");
  let confined: ConfinedProgram;
  try {
    const line = {
      text: command.text,
      tty: false,
      login: true,
      shell: ports.shell,
      cwd: thread.settings.cwd,
    };
    const { program } = await commandProgram(ports, thread, line);
    confined = await ports.confine(
      thread,
      { ...program, stdin: "open" },
      { outside: false, text: command.text, isHook: true },
    );
  } catch (cause) {
    return notRun(messageOf(cause));
  }
  if (confined.kind === "unavailable") return notRun(`${confined.reason}. ${confined.advice}`);
  if (signal.aborted) {
    await confined.release();
    return notRun("it is no longer needed");
  }
  try {
    return await runProgram(ports, commands, id, confined, command, signal);
  } catch (cause) {
    return notRun(messageOf(cause));
  } finally {
    await confined.release();
  }
}

function notRun(why: string): HookShellCommandEnd {
  return { code: null, stdout: "", stderr: "", error: `It was not run: ${why}` };
}

async function runProgram(
  ports: ExecPorts,
  commands: ThreadCommands,
  threadId: string,
  { program }: Extract<ConfinedProgram, { kind: "program" }>,
  { input, timeoutMs }: HookShellCommand,
  signal: AbortSignal,
): Promise<HookShellCommandEnd> {
  const output = { stdout: new CappedText(MAX_STDOUT), stderr: new CappedText(MAX_STDERR) };
  const take = ({ stream, bytes }: OutputPiece): void => output[stream].add(bytes);
  const process = await ports.processes.start(commands.owner(threadId), program, take);
  let isLate = false;
  const stop = (): void => end(ports, process);
  const cancel = ports.platform.timers.after(timeoutMs, () => {
    isLate = true;
    stop();
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  // A failed write is ignored, because a program need not read its stdin.
  ports.supervisor.take(
    "input of a hook",
    process.write(new TextEncoder().encode(input)).then(
      () => process.endInput(),
      () => {},
    ),
  );
  const { code } = await process.ended;
  cancel();
  signal.removeEventListener("abort", stop);
  const late = isLate ? `It was ended after ${timeoutMs / 1000} seconds.` : null;
  return { code, stdout: output.stdout.text, stderr: output.stderr.text, error: late };
}

function end({ supervisor }: ExecPorts, process: ManagedProcess): void {
  supervisor.take("ending a hook", process.terminate());
}

/** Keeps the first `max` characters of an output. */
class CappedText {
  readonly #decoder = new TextDecoder();
  readonly #max: number;
  #text = "";

  constructor(max: number) {
    this.#max = max;
  }

  add(bytes: Uint8Array): void {
    if (this.#text.length < this.#max)
      this.#text = (this.#text + this.#decoder.decode(bytes, { stream: true })).slice(0, this.#max);
  }

  get text(): string {
    return this.#text;
  }
}
