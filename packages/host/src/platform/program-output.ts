import type { Readable } from "node:stream";
import type { OutputPiece } from "./platform.ts";

/** Limit on the bytes of one piece. */
const MAX_PIECE = 64 * 1024;

/**
 * Merges the output streams of a program (stdout, stderr) into one, in the order in which they become readable.
 * Nothing is read before the consumer asks for it.
 */
export class ProgramOutput implements AsyncIterable<OutputPiece> {
  readonly #open: Map<OutputPiece["stream"], Readable>;
  /** Pieces that were read when the streams were closed, and not consumed yet. */
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
      // When its program has ended, a PTY reports an error instead of the end of the stream.
      stream.on("error", end);
    }
  }

  /** Ends the output after what was written so far, and then calls `stopped`. */
  stop(stopped: () => void = () => {}): void {
    // After two turns of the event loop everything that was in a pipe has been read.
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
