import type {
  ByteStream,
  Cancel,
  OutputPiece,
  Platform,
  ProgramExit,
  RunningProgram,
  TerminalSize,
} from "../platform/platform.ts";

/** Hears what a process writes. While the promise that it gives is not resolved, the process is not read. */
export type ProcessListener = (piece: OutputPiece) => void | Promise<void>;

/** How long output may stay away after the program has exited while other processes hold it open. */
const DRAIN_MS = 250;

export interface ManagedProcessPorts {
  readonly mark: string;
  readonly timers: Platform["timers"];
  readonly listener: ProcessListener;
  /** Asks the program and what it started to end, and gives them a moment for it. */
  askToEnd(process: ManagedProcess): Promise<void>;
  /** Ends what the program started, also what left its process group. */
  endDescendants(): Promise<void>;
}

/** A process with an owner. It has ended when its program has exited and its output was read. */
export class ManagedProcess {
  /** Its program has it in its environment. */
  readonly mark: string;
  /** Resolves when it is gone and nothing more will be heard of it. Never rejects. */
  readonly ended: Promise<ProgramExit>;
  readonly #program: RunningProgram;
  readonly #timers: Platform["timers"];
  readonly #askToEnd: (process: ManagedProcess) => Promise<void>;
  readonly #endDescendants: () => Promise<void>;
  #grace: Promise<void> | undefined;
  #hasExited = false;
  /** Whether the reader waits for output, and not for its listener. */
  #waitsForOutput = false;
  #cancelDrain: Cancel = () => {};

  constructor(
    program: RunningProgram,
    { mark, timers, listener, askToEnd, endDescendants }: ManagedProcessPorts,
  ) {
    this.mark = mark;
    this.#program = program;
    this.#timers = timers;
    this.#askToEnd = askToEnd;
    this.#endDescendants = endDescendants;
    const read = this.#read(listener);
    this.ended = program.exited.then(async (exit) => {
      this.#hasExited = true;
      if (this.#grace !== undefined) await Promise.race([this.#grace, read]);
      // What it left behind goes with it, and with that the output ends.
      program.signal("SIGKILL");
      this.#limitDrain();
      await read;
      return exit;
    });
  }

  /** Rejects when it takes no input any more. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#program.write(bytes);
  }

  endInput(): void {
    this.#program.endInput();
  }

  resize(size: TerminalSize): void {
    this.#program.resize(size);
  }

  /** As Ctrl-C does. */
  interrupt(): void {
    this.#program.signal("SIGINT");
  }

  /** The host's end of its channel, if it has one. */
  get channel(): ByteStream | undefined {
    return this.#program.channel;
  }

  get pid(): number {
    return this.#program.pid;
  }

  /**
   * Asks it, and everything that it started, to end, and ends after a moment what is left: git removes its lock files, servers
   * close what they have open. Resolves when all of it is gone.
   */
  async endGently(): Promise<void> {
    await this.#askToEnd(this);
    await this.terminate();
  }

  /** It was asked to end, and until then what it started may go on after its exit. False: it was asked before. */
  leaveTime(grace: Promise<void>): boolean {
    if (this.#grace !== undefined) return false;
    this.#grace = grace;
    return true;
  }

  /** Ends it and everything that it started, in whichever session; resolves when all of it is gone. */
  async terminate(): Promise<void> {
    this.kill();
    await this.#endDescendants();
    await this.ended;
  }

  /** Kills the program and the rest of its process group. */
  kill(): void {
    this.#program.signal("SIGKILL");
  }

  async #read(listener: ProcessListener): Promise<void> {
    this.#waitsForOutput = true;
    for await (const piece of this.#program.output) {
      this.#waitsForOutput = false;
      this.#cancelDrain();
      await listener(piece);
      this.#waitsForOutput = true;
      this.#limitDrain();
    }
    this.#waitsForOutput = false;
    this.#cancelDrain();
  }

  /** After the exit, output that is there is read to its end, however slowly; output that does not come is not waited for. */
  #limitDrain(): void {
    if (!this.#hasExited || !this.#waitsForOutput) return;
    this.#cancelDrain();
    this.#cancelDrain = this.#timers.after(DRAIN_MS, () => this.#program.stopReading());
  }
}
