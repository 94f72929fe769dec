import type { CreatedOutput } from "../../store/output-file-store.ts";

/**
 * Outputs above this size, in bytes, are written to the file at once. Smaller ones are kept in memory, and written when
 * `save` is called.
 */
const FROM_BYTES = 16 * 1024;
/** Limit on the size of one output file. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Creates the output file of a call. Undefined if the store has no files. */
export type OpenOutput = (threadId: string, name: string) => Promise<CreatedOutput | undefined>;

/**
 * The file with the whole output of one command, up to `MAX_FILE_BYTES`. It is created when the output gets long, or when
 * the model does not get all of it.
 */
export class OutputFile {
  readonly #open: () => ReturnType<OpenOutput>;
  /** Output that is not in the file yet. */
  #pending: Uint8Array[] = [];
  #bytes = 0;
  /** True once a part of the output is missing from the file. */
  #isCut = false;
  /** Whether output is kept in memory: until the file is created, or cannot be created. */
  #isBuffering = true;
  #isClosed = false;
  #written: CreatedOutput | undefined;
  /** The last write. Writes are done one after the other, because stdout and stderr are read at the same time. */
  #writing: Promise<void> = Promise.resolve();

  constructor(open: () => ReturnType<OpenOutput>) {
    this.#open = open;
  }

  /** Appends output. After a write error, nothing more is written to the file, and the command continues. */
  async add(bytes: Uint8Array): Promise<void> {
    if (this.#isClosed) return;
    const room = MAX_FILE_BYTES - this.#bytes;
    if (room < bytes.length) this.#isCut = true;
    if (room <= 0) return;
    const more = bytes.subarray(0, room);
    this.#bytes += more.length;
    const isKept = this.#isBuffering && this.#bytes <= FROM_BYTES;
    this.#pending.push(isKept ? more.slice() : more);
    if (!isKept) await this.#write();
  }

  /**
   * Writes the output so far to the file, and creates the file if there is none. Resolves with a phrase that says how much
   * of the output is in the file and where the file is; with undefined if there is no file. Can be called after `close`.
   */
  async save(): Promise<string | undefined> {
    await this.#write();
    if (this.#written === undefined) return undefined;
    return `${this.#isCut ? "the beginning of the output" : "the whole output"} is in ${this.#written.path}`;
  }

  /** Ends the output. A short one stays in memory for `save`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await this.#written?.close().catch(() => {});
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writePending());
    return this.#writing;
  }

  async #writePending(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length === 0) return;
    const isFirst = this.#isBuffering;
    this.#isBuffering = false;
    try {
      if (isFirst) this.#written = await this.#open();
      if (this.#written === undefined) return this.#end();
      for (const piece of pending) await this.#written.append(piece);
      if (this.#isClosed) await this.#written.close();
    } catch {
      this.#end();
    }
  }

  /** Stops writing to the file. */
  #end(): void {
    this.#pending = [];
    this.#bytes = MAX_FILE_BYTES;
    this.#isCut = true;
  }
}
