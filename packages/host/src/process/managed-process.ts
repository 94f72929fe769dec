import type {
  OutputPiece,
  Platform,
  ProgramExit,
  RunningProgram,
  TerminalSize,
} from "../platform/platform.ts";

/** Hears what a process writes. While the promise that it gives is not resolved, the process is not read. */
export type ProcessListener = (piece: OutputPiece) => void | Promise<void>;

/** How long processes that have the output open may live on when their program has exited. */
const DRAIN_MS = 250;

/** A process with an owner. It has ended when its program has exited and its output was read. */
export class ManagedProcess {
  /** Resolves when it is gone and nothing more will be heard of it. Never rejects. */
  readonly ended: Promise<ProgramExit>;
  readonly #program: RunningProgram;

  constructor(program: RunningProgram, { timers }: Pick<Platform, "timers">, listener: ProcessListener) {
    this.#program = program;
    const read = this.#read(listener);
    this.ended = program.exited.then(async (exit) => {
      // What it left behind goes with it, and with that the output ends.
      program.signal("SIGKILL");
      const cancel = timers.after(DRAIN_MS, () => program.stopReading());
      await read;
      cancel();
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

  /** Ends it and everything that it started; resolves when it is gone. */
  async terminate(): Promise<void> {
    this.#program.signal("SIGKILL");
    await this.ended;
  }

  async #read(listener: ProcessListener): Promise<void> {
    for await (const piece of this.#program.output) await listener(piece);
  }
}
