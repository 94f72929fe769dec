import type { CommandEnd } from "../../core/terminals/command-end.ts";
import type { RunningText } from "../../core/turn/texts.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { ByteStream, OutputPiece, Platform, ProgramStart } from "../../platform/platform.ts";
import type { ManagedProcess } from "../../process/managed-process.ts";
import type { ProcessManager, ProcessOwner } from "../../process/process-manager.ts";
import type { LiveOutput } from "../tool.ts";
import { BoundedText } from "./bounded-text.ts";
import type { OutputFile } from "./output-file.ts";

/** How much of each end of an output clients get with the completed item. */
const ITEM_OUTPUT = 128 * 1024;
/** How much of each end of what the model has not read is kept for it. */
const UNREAD_OUTPUT = 512 * 1024;

/** The exit code of a command that was killed, as clients of this protocol know it. */
const KILLED = -1;

/** The exit code of a command that has taken too long, as `timeout` has it. */
const TIMED_OUT = 124;

/** What serves the channel of a command. */
export interface ServedChannel {
  /** Called with its output once the command is gone; gives back what the model is to know, if there is something. */
  close(output: string): string | undefined;
}

export interface CommandProcess {
  readonly owner: ProcessOwner;
  /** As it was typed. */
  readonly command: string;
  readonly program: ProgramStart;
  readonly turnId: string;
  readonly itemId: string;
  /** Called once it is gone: undoes what confining it has left behind. What it resolves to is added to the output. */
  release(): Promise<string | undefined>;
  /** Serves its channel, if it has one; what that gives back is called once it is gone. */
  serve?(channel: ByteStream): Promise<ServedChannel>;
  /** Where all of the output goes that the model is not shown. */
  readonly file: OutputFile | undefined;
  readonly live: LiveOutput;
}

interface RunPorts {
  readonly platform: Pick<Platform, "timers">;
  readonly processes: Pick<ProcessManager, "start">;
  readonly supervisor: Supervisor;
}

/** One process of a command, and what it has written so far. */
export class RunningCommand {
  /** Never rejects. */
  readonly ended: Promise<CommandEnd>;
  readonly file: OutputFile | undefined;
  readonly takesInput: boolean;
  /** As it was typed. */
  readonly command: string;
  readonly #ports: RunPorts;
  readonly #process: ManagedProcess;
  readonly #output: OutputText;
  #isOver = false;
  /** Set if somebody ends it. */
  #exitCode: number | undefined;
  /** Calls that wait for its output: the last one reports its end. */
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
    this.file = command.file;
    this.command = command.command;
    this.takesInput = command.program.stdin === "open" || command.program.tty !== undefined;
    this.ended = this.#end(command, served);
  }

  /** Throws Node's error where the program cannot be started. */
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

  /** What it has written since this was called last. */
  takeUnread(): string {
    return this.#output.unread.take();
  }

  /** The end of its output, as far as it came. */
  get text(): string {
    return this.#output.all.toString();
  }

  /** Resolves when it has ended, when that time has passed, or when the signal aborts. */
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
    if (--this.#readers > 0) return;
    // Whoever has just waited takes its end to the thread; only if that comes to nothing others do.
    this.#ports.platform.timers.soon(() => {
      if (this.#readers === 0) this.#lastReaderLeft?.();
    });
  }

  /** Resolves when it has ended and no call waits for it. */
  async endedUnread(): Promise<CommandEnd> {
    const end = await this.ended;
    if (this.#readers > 0)
      await new Promise<void>((resolve) => {
        this.#lastReaderLeft = resolve;
      });
    return end;
  }

  /** Rejects when it takes no input any more. */
  write(text: string): Promise<void> {
    return this.#process.write(new TextEncoder().encode(text));
  }

  /** As Ctrl-C does. */
  interrupt(): void {
    this.#process.interrupt();
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** It was ended by somebody, and not by itself. */
  get wasTerminated(): boolean {
    return this.#exitCode !== undefined;
  }

  /** Ends it and everything that it started. */
  terminate(): void {
    this.#exitCode ??= KILLED;
    this.#ports.supervisor.take("ending a command", this.#process.endGently());
  }

  /** Ends a command that has taken too long. */
  timeOut(ms: number): void {
    if (this.#isOver || this.wasTerminated) return;
    this.#exitCode = TIMED_OUT;
    this.#output.add(`\nThe command was ended after ${ms / 1000} seconds.\n`);
    this.#ports.supervisor.take("ending a command", this.#process.endGently());
  }

  async #end({ release, file }: CommandProcess, served: ServedChannel | undefined): Promise<CommandEnd> {
    const { code } = await this.#process.ended;
    const refused = served?.close(this.text);
    const undone = await release().catch((cause: Error) => cause.message);
    const notes = [refused, undone].filter((note) => note !== undefined);
    await this.#output.finish(notes.length === 0 ? undefined : notes.join("\n"));
    await file?.close();
    this.#isOver = true;
    return { exitCode: this.#exitCode ?? code ?? KILLED, output: this.text };
  }
}

/** Takes a command's output to everyone who gets some of it. */
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

  /** While it is not done, the command is not read: one that writes faster is slowed down. */
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
