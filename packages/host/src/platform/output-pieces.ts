import type { Readable } from "node:stream";
import type { OutputPiece } from "./platform.ts";

/** The most that one piece holds. */
const MAX_PIECE = 64 * 1024;

/** Streams of a program's output as one, in the order in which their pieces can be read. Nothing is read ahead of demand. */
export class OutputPieces implements AsyncIterable<OutputPiece> {
  readonly #open: Map<OutputPiece["stream"], Readable>;
  #stopped = false;
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

  stop(): void {
    this.#stopped = true;
    for (const stream of this.#open.values()) stream.destroy();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<OutputPiece> {
    while (!this.#stopped) {
      const piece = this.#next();
      if (piece !== undefined) yield piece;
      else if (this.#open.size === 0) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
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
