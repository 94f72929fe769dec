import type { CommandEnd } from "../../core/terminals/command-end.ts";
import type { RunningText } from "../../core/turn/item-texts.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { ByteStream, OutputPiece, Platform, ProgramStart } from "../../platform/platform.ts";
import type { ManagedProcess } from "../../process/managed-process.ts";
import type { ProcessManager, ProcessOwner } from "../../process/process-manager.ts";
import type { LiveOutput } from "../tool.ts";
import { BoundedText } from "./bounded-text.ts";
import type { OutputFile } from "./output-file.ts";

/** Number of characters of the output that a completed item keeps at each end. */
const ITEM_OUTPUT = 128 * 1024;
/** Number of characters that are kept at each end of the output that the model has not read. */
const UNREAD_OUTPUT = 512 * 1024;

/** The exit code that the protocol uses for a killed command. */
const KILLED = -1;

/** The exit code of a command that exceeded its time limit, as from the `timeout` program of coreutils. */
const TIMED_OUT = 124;

/** The host's side of a command's network channel. */
export interface ServedChannel {
  /** Called with the command's output when the command has ended. Returns a note for the model, if there is one. */
  close(output: string): string | undefined;
}

/** A command to start, and where its output goes. */
export interface CommandProcess {
  readonly owner: ProcessOwner;
  /** The command as the model or the user typed it. */
  readonly command: string;
  readonly program: ProgramStart;
  readonly turnId: string;
  readonly itemId: string;
  /**
   * Removes the sandbox after the command has ended. If it resolves to a text, the text is appended to the output.
   */
  release(): Promise<string | undefined>;
  /** Serves the command's network channel, if the program has one. */
  serve?(channel: ByteStream): Promise<ServedChannel>;
  /** The file for the whole output; undefined if none is written. */
  readonly file: OutputFile | undefined;
  readonly live: LiveOutput;
}

interface RunPorts {
  readonly platform: Pick<Platform, "timers" | "clock">;
  readonly processes: Pick<ProcessManager, "start">;
  readonly supervisor: Supervisor;
}

/** A command's running process and the output so far. */
export class RunningCommand {
  /** Resolves when the process has ended and its sandbox is removed. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  readonly takesInput: boolean;
  /** Whether the command asked for a terminal and got pipes. */
  readonly lacksTerminal: boolean;
  /** The command as it was typed. */
  readonly command: string;
  readonly #ports: RunPorts;
  readonly #file: OutputFile | undefined;
  readonly #process: ManagedProcess;
  readonly #output: OutputText;
  readonly #startedMs: number;
  #isOver = false;
  /** The exit code to report, if the host ended the command. */
  #exitCode: number | undefined;
  /** Number of calls that wait for output. The last one reports the command's end. */
  #readers = 0;
  #lastReaderLeft: (() => void) | undefined;

  private constructor(
    ports: RunPorts,
    command: CommandProcess,
    process: ManagedProcess,
    output: OutputText,
    served: ServedChannel | undefined,
  ) {
    this.#ports = ports;
    this.#process = process;
    this.#output = output;
    this.#startedMs = ports.platform.clock.monotonic();
    this.#file = command.file;
    this.command = command.command;
    this.lacksTerminal = command.program.tty !== undefined && !process.tty;
    this.takesInput = command.program.stdin === "open" || command.program.tty !== undefined;
    this.ended = this.#end(command, served);
  }

  /** Starts a command. Rejects with Node's error if the program cannot be started. */
  static async start(ports: RunPorts, command: CommandProcess): Promise<RunningCommand> {
    const output = new OutputText(command);
    let process: ManagedProcess;
    try {
      process = await ports.processes.start(command.owner, command.program, (piece) => output.take(piece));
    } catch (cause) {
      await command.release();
      throw cause;
    }
    let served: ServedChannel | undefined;
    try {
      served = process.channel && (await command.serve?.(process.channel));
    } catch (cause) {
      await process.terminate();
      await command.release();
      throw cause;
    }
    return new RunningCommand(ports, command, process, output, served);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The output since the last call of this method. */
  takeUnread(): string {
    return this.#output.unread.take();
  }

  /** The output so far. The middle of a long output is left out. */
  get text(): string {
    return this.#output.all.toString();
  }

  /** Resolves when the command has ended, when `ms` have passed, or when the signal aborts. */
  async waitFor(ms: number, signal: AbortSignal): Promise<void> {
    this.#readers++;
    let cancel = (): void => {};
    const timeOut = new Promise<void>((resolve) => {
      cancel = this.#ports.platform.timers.after(ms, resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
    await Promise.race([this.ended, timeOut]);
    cancel();
    this.#stopReading();
  }

  /**
   * Saves the whole output for a model that gets only a part of it. Resolves with a phrase that names the file; with
   * undefined if there is none.
   */
  async saveOutput(): Promise<string | undefined> {
    this.#readers++;
    try {
      return await this.#file?.save();
    } finally {
      this.#stopReading();
    }
  }

  #stopReading(): void {
    if (--this.#readers > 0) return;
    // The call that just stopped waiting reports the end to the thread first; `endedUnread` resolves only afterwards.
    this.#ports.platform.timers.soon(() => {
      if (this.#readers === 0) this.#lastReaderLeft?.();
    });
  }

  /** Resolves when the command has ended and no call waits for its output. */
  async endedUnread(): Promise<CommandEnd> {
    const end = await this.ended;
    if (this.#readers > 0)
      await new Promise<void>((resolve) => {
        this.#lastReaderLeft = resolve;
      });
    return end;
  }

  /** Writes to the command's stdin. Rejects if stdin is closed. */
  write(text: string): Promise<void> {
    return this.#process.write(new TextEncoder().encode(text));
  }

  /** Sends SIGINT, as Ctrl-C does. */
  interrupt(): void {
    this.#process.interrupt();
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Whether the host ended the command. */
  get wasTerminated(): boolean {
    return this.#exitCode !== undefined;
  }

  /** Ends the command and all its child processes. */
  terminate(): void {
    this.#exitCode ??= KILLED;
    this.#ports.supervisor.take("ending a command", this.#process.endGently());
  }

  /** Ends a command that exceeded its time limit. */
  timeOut(ms: number): void {
    if (this.#isOver || this.wasTerminated) return;
    this.#exitCode = TIMED_OUT;
    this.#output.add(`\nThe command was ended after ${ms / 1000} seconds.\n`);
    this.#ports.supervisor.take("ending a command", this.#process.endGently());
  }

  async #end({ release, file }: CommandProcess, served: ServedChannel | undefined): Promise<CommandEnd> {
    const { code } = await this.#process.ended;
    const ranMs = Math.round(this.#ports.platform.clock.monotonic() - this.#startedMs);
    const refused = served?.close(this.text);
    const undone = await release().catch((cause: Error) => cause.message);
    const notes = [refused, undone].filter((note) => note !== undefined);
    await this.#output.finish(notes.length === 0 ? undefined : notes.join("\n"));
    await file?.close();
    this.#isOver = true;
    return { exitCode: this.#exitCode ?? code ?? KILLED, output: this.text, ranMs };
  }
}

/** Passes on a command's output: to the completed item, the model, the output file and the subscribers. */
class OutputText {
  readonly all = new BoundedText(ITEM_OUTPUT);
  readonly unread = new BoundedText(UNREAD_OUTPUT);
  readonly #command: CommandProcess;
  readonly #text: RunningText;
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  constructor(command: CommandProcess) {
    this.#command = command;
    const { turnId, itemId } = command;
    this.#text = {
      method: "item/commandExecution/outputDelta",
      params: { turnId, itemId },
      isOutput: true,
    };
  }

  /**
   * Adds a piece of output. No more output is read from the process until the promise resolves, so that a command
   * that writes faster than the disk is slowed down.
   */
  async take({ stream, bytes }: OutputPiece): Promise<void> {
    this.add(this.#decoders[stream].decode(bytes, { stream: true }));
    await this.#command.file?.add(bytes);
  }

  async finish(more: string | undefined): Promise<void> {
    for (const decoder of Object.values(this.#decoders)) this.add(decoder.decode());
    if (more !== undefined) this.add(`\n${more}\n`);
  }

  add(text: string): void {
    if (text === "") return;
    this.all.add(text);
    this.unread.add(text);
    this.#command.live(this.#text, text);
  }
}
