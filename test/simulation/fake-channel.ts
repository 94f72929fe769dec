import type { ByteStream } from "../../packages/host/src/platform/platform.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/** Data on its way from one side to the other. */
class OneWay {
  readonly #pieces: Uint8Array[] = [];
  #ended = false;
  #changed: () => void = () => {};

  put(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#changed();
  }

  end(): void {
    this.#ended = true;
    this.#changed();
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) yield piece;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#changed = resolve;
        });
    }
  }
}

/** The channel between a host and a program. What one side writes reaches the other side in a separate step. */
export class FakeChannel {
  readonly #toHost = new OneWay();
  readonly #toProgram = new OneWay();
  readonly host: ByteStream;
  readonly program: ByteStream;

  constructor(scheduler: Scheduler, host: Owner, program: Owner) {
    const side = (input: OneWay, output: OneWay, writer: Owner): ByteStream => ({
      input: input.pieces(),
      write: (bytes) =>
        new Promise((resolve) =>
          scheduler.post(
            `${writer.name} channel`,
            "writes to the channel",
            () => {
              output.put(bytes);
              resolve();
            },
            writer,
          ),
        ),
      end: () => output.end(),
      destroy: () => this.close(),
    });
    this.host = side(this.#toHost, this.#toProgram, host);
    this.program = side(this.#toProgram, this.#toHost, program);
  }

  close(): void {
    this.#toHost.end();
    this.#toProgram.end();
  }
}
