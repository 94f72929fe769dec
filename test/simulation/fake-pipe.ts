import type { OutputPiece } from "../../packages/host/src/platform/platform.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/** The bytes that a pipe holds before its writers wait. */
const CAPACITY = 64 * 1024;

/**
 * The output of a program and of all processes that share it. It ends when the last of them has ended, or after what
 * was written before `stopReading`.
 */
export class FakePipe implements AsyncIterable<OutputPiece> {
  readonly #scheduler: Scheduler;
  /** The reader; undefined if all output is dropped, as by /dev/null. */
  readonly #reader: Owner | undefined;
  readonly #pieces: OutputPiece[] = [];
  #bytes = 0;
  #writers = 0;
  #stopped = false;
  #room: (() => void)[] = [];
  #changed: () => void = () => {};

  constructor(scheduler: Scheduler, reader: Owner | undefined) {
    this.#scheduler = scheduler;
    this.#reader = reader;
  }

  get full(): boolean {
    return this.#bytes >= CAPACITY;
  }

  /** Whether the output can no longer be read. */
  get broken(): boolean {
    return this.#reader !== undefined && (this.#stopped || !this.#reader.alive);
  }

  open(): void {
    this.#writers++;
  }

  close(): void {
    this.#writers--;
    this.#changed();
  }

  put(piece: OutputPiece): void {
    if (this.#reader === undefined) return;
    this.#pieces.push(piece);
    this.#bytes += piece.bytes.length;
    this.#changed();
  }

  /** Runs once when there is room, or when the reader is gone. */
  onRoom(run: () => void): void {
    this.#room.push(run);
  }

  stopReading(): void {
    this.#stopped = true;
    this.#changed();
    this.#makeRoom();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<OutputPiece> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.#bytes -= piece.bytes.length;
        this.#makeRoom();
        await this.#step();
        yield piece;
      } else if (this.#writers === 0 || this.#stopped) return this.#step();
      else
        await new Promise<void>((resolve) => {
          this.#changed = resolve;
        });
    }
  }

  #makeRoom(): void {
    for (const run of this.#room.splice(0)) run();
  }

  #step(): Promise<void> {
    return new Promise((resolve) =>
      this.#scheduler.post(`${this.#reader?.name} output`, "output", resolve, this.#reader),
    );
  }
}
