import type { Readable } from "node:stream";
import type { OutputPiece } from "./platform.ts";

/** The most that one piece holds. */
const MAX_PIECE = 64 * 1024;

/** Streams of a program's output as one, in the order in which their pieces can be read. Nothing is read ahead of demand. */
export class OutputPieces implements AsyncIterable<OutputPiece> {
  readonly #open: Map<OutputPiece["stream"], Readable>;
  /** What was read of streams that are closed. */
  readonly #rest: OutputPiece[] = [];
  #wake: () => void = () => {};

  constructor(streams: Readonly<Record<string, Readable>>) {
    this.#open = new Map(Object.entries(streams)) as Map<OutputPiece["stream"], Readable>;
    const wake = (): void => this.#wake();
    for (const [name, stream] of this.#open) {
      const end = (): void => {
        this.#open.delete(name);
        wake();
      };
      stream.on("readable", wake).once("end", end).once("close", end);
      // A terminal whose program is gone gives an error in place of an end.
      stream.on("error", end);
    }
  }

  /** Ends it behind what was written so far, and then runs `stopped`. */
  stop(stopped: () => void = () => {}): void {
    // Two rounds of the event loop: whatever was in a pipe has been read then.
    setImmediate(() => setImmediate(() => this.#close(stopped)));
  }

  async *[Symbol.asyncIterator](): AsyncIterator<OutputPiece> {
    for (;;) {
      const piece = this.#rest.shift() ?? this.#next();
      if (piece !== undefined) yield piece;
      else if (this.#open.size === 0) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #close(stopped: () => void): void {
    for (let piece = this.#next(); piece !== undefined; piece = this.#next()) this.#rest.push(piece);
    for (const stream of this.#open.values()) stream.destroy();
    this.#open.clear();
    stopped();
    this.#wake();
  }

  #next(): OutputPiece | undefined {
    for (const [stream, readable] of this.#open) {
      const size = Math.min(readable.readableLength, MAX_PIECE);
      const bytes = readable.read(size === 0 ? undefined : size) as Buffer | null;
      if (bytes !== null) return { stream, bytes };
    }
    return undefined;
  }
}
