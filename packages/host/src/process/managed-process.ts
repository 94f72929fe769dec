import type {
  ByteStream,
  Cancel,
  OutputPiece,
  Platform,
  ProgramExit,
  RunningProgram,
  TerminalSize,
} from "../platform/platform.ts";

/** Receives the output of a process. Until the returned promise resolves, no more output is read. */
export type ProcessListener = (piece: OutputPiece) => void | Promise<void>;

/** How long to wait for more output after the program has exited, if other processes still hold its output open. */
const DRAIN_MS = 250;

export interface ManagedProcessPorts {
  readonly mark: string;
  readonly timers: Platform["timers"];
  readonly listener: ProcessListener;
  /** Sends SIGTERM to the program and its descendants, and waits for a grace period. */
  askToEnd(process: ManagedProcess): Promise<void>;
  /** Kills the program's descendants, including those that left its process group. */
  endDescendants(): Promise<void>;
}

/** A process that belongs to an owner. It has ended when its program has exited and its output was read. */
export class ManagedProcess {
  /** The mark in the program's environment, by which its descendants are found. */
  readonly mark: string;
  /** Resolves when the program has ended and all output was delivered. Never rejects. */
  readonly ended: Promise<ProgramExit>;
  readonly #program: RunningProgram;
  readonly #timers: Platform["timers"];
  readonly #askToEnd: (process: ManagedProcess) => Promise<void>;
  readonly #endDescendants: () => Promise<void>;
  #grace: Promise<void> | undefined;
  #hasExited = false;
  /** Whether the reader waits for the program's output. False while it waits for the listener. */
  #waitsForOutput = false;
  #cancelDrain: Cancel = () => {};
  #drainTimedOut = false;

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
      // Kills all that the program left running in its process group. That also ends the output.
      program.signal("SIGKILL");
      this.#limitDrain();
      await read;
      return exit;
    });
  }

  /** Writes to the program's stdin. Rejects when the program accepts no more input. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#program.write(bytes);
  }

  endInput(): void {
    this.#program.endInput();
  }

  resize(size: TerminalSize): void {
    this.#program.resize(size);
  }

  /** Sends SIGINT to the process group, as Ctrl-C does. */
  interrupt(): void {
    this.#program.signal("SIGINT");
  }

  /** The host's end of the program's channel, if it has one. */
  get channel(): ByteStream | undefined {
    return this.#program.channel;
  }

  /** Whether the program runs on a PTY. Some machines have none, even if the caller asked for one. */
  get tty(): boolean {
    return this.#program.tty;
  }

  /** Whether reading stopped because other processes still held the output open. Final once the process has ended. */
  get drainTimedOut(): boolean {
    return this.#drainTimedOut;
  }

  get pid(): number {
    return this.#program.pid;
  }

  /**
   * Sends SIGTERM to the program and its descendants, and kills the remaining ones after a grace period, in which git
   * can remove its lock files and servers can shut down. Resolves when all have ended.
   */
  async endGently(): Promise<void> {
    await this.#askToEnd(this);
    await this.terminate();
  }

  /**
   * Lets descendants live on after the program's exit, until `grace` resolves. Returns false if a grace period was
   * set before.
   */
  setGrace(grace: Promise<void>): boolean {
    if (this.#grace !== undefined) return false;
    this.#grace = grace;
    return true;
  }

  /** Kills the program and its descendants, in any session; resolves when all have ended. */
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

  /** After the exit, output that is available is read to its end, however slowly. Further output is not awaited. */
  #limitDrain(): void {
    if (!this.#hasExited || !this.#waitsForOutput) return;
    this.#cancelDrain();
    this.#cancelDrain = this.#timers.after(DRAIN_MS, () => {
      this.#drainTimedOut = true;
      this.#program.stopReading();
    });
  }
}
