import type { AppendFile } from "../../platform/platform.ts";

/** From how many bytes on an output is written to a file: below that, the model is shown all of it. */
const FROM_BYTES = 16 * 1024;
/** How much of one output is written at most. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Opens the file of an output in the folder of its thread; the path is where commands find it. */
export type OpenOutput = (
  threadId: string,
  name: string,
) => Promise<{ readonly file: AppendFile; readonly path: string }>;

/** The whole output of one command, as far as there is room for it. Made when the output gets long. */
export class OutputFile {
  readonly #open: () => ReturnType<OpenOutput>;
  #early: Uint8Array[] | undefined = [];
  #bytes = 0;
  #written: Awaited<ReturnType<OpenOutput>> | undefined;

  constructor(open: () => ReturnType<OpenOutput>) {
    this.#open = open;
  }

  /** Where it is, once it is there. */
  get path(): string | undefined {
    return this.#written?.path;
  }

  /** A disk that takes nothing more is no reason to stop the command: the file ends there. */
  async add(bytes: Uint8Array): Promise<void> {
    const room = MAX_FILE_BYTES - this.#bytes;
    if (room <= 0) return;
    const more = bytes.subarray(0, room);
    this.#bytes += more.length;
    if (this.#early !== undefined) {
      this.#early.push(more.slice());
      if (this.#bytes <= FROM_BYTES) return;
    }
    try {
      this.#written ??= await this.#open();
      const early = this.#early ?? [more];
      this.#early = undefined;
      for (const piece of early) await this.#written.file.append(piece);
    } catch {
      this.#early = undefined;
      this.#bytes = MAX_FILE_BYTES;
    }
  }

  async close(): Promise<void> {
    this.#early = undefined;
    this.#bytes = MAX_FILE_BYTES;
    await this.#written?.file.close().catch(() => {});
  }
}
