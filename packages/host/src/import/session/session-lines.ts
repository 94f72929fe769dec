import { messageOf } from "../../errors.ts";
import type { Files, ReadFile } from "../../platform/platform.ts";
import { ImportProblem } from "../pending-import.ts";

/** Size of the first read, which suffices for most heads. Later reads are larger. */
const FIRST_CHUNK = 32 * 1024;
const CHUNK = 256 * 1024;
/** Limit on the length of a line. Longer ones are skipped without buffering them. */
export const MAX_LINE = 32 * 1024 * 1024;
/** Limit on the decompressed size of a file. */
const MAX_UNPACKED = 4 * 1024 * 1024 * 1024;
const LF = 0x0a;

/** A line of a session file, and the offset of its end. `text` is undefined if the line is too long. */
export interface SessionLine {
  readonly text: string | undefined;
  readonly end: number;
}

/** Yields the lines of a file, compressed or not, in batches. The last line may lack a newline. */
export async function* sessionLines(
  files: Pick<Files, "openRead">,
  path: string,
): AsyncGenerator<readonly SessionLine[]> {
  let file: ReadFile | undefined;
  try {
    file = await files.openRead(path);
  } catch (cause) {
    throw new ImportProblem(`${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (file === undefined) throw new ImportProblem(`${path} is not there`);
  try {
    const splitter = new LineSplitter();
    for await (const bytes of path.endsWith(".zst") ? unpacked(file, path) : chunks(file, path)) {
      const lines = splitter.take(bytes);
      if (lines.length > 0) yield lines;
    }
    const last = splitter.rest();
    if (last !== undefined) yield [last];
  } finally {
    await file.close();
  }
}

/** Number of bytes that `lastLines` reads. */
const TAIL = 16 * 1024;

/** Returns the complete lines at the end of an uncompressed file. */
export async function lastLines(
  files: Pick<Files, "openRead">,
  path: string,
): Promise<readonly SessionLine[]> {
  const file = await files.openRead(path);
  if (file === undefined) return [];
  try {
    const size = await file.size();
    const from = Math.max(0, size - TAIL);
    const splitter = new LineSplitter();
    const lines = splitter.take(await file.read(from, size - from));
    return from === 0 ? lines : lines.slice(1);
  } finally {
    await file.close();
  }
}

async function* chunks(file: ReadFile, path: string): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let want = FIRST_CHUNK; ; want = Math.min(CHUNK, want * 2)) {
    let bytes: Uint8Array;
    try {
      bytes = await file.read(at, want);
    } catch (cause) {
      throw new ImportProblem(`${path} cannot be read: ${messageOf(cause)}`, { cause });
    }
    if (bytes.length === 0) return;
    at += bytes.length;
    yield bytes;
    if (bytes.length < want) return;
  }
}

/** Decompresses Zstandard, in which the Codex CLI stores older sessions. */
async function* unpacked(file: ReadFile, path: string): AsyncGenerator<Uint8Array> {
  const { Decompress } = await import("fzstd");
  let ready: Uint8Array[] = [];
  let total = 0;
  let isWhole = false;
  const stream = new Decompress((bytes, isLast) => {
    ready.push(bytes);
    isWhole ||= isLast === true;
  });
  const push = (bytes: Uint8Array, isLast: boolean): readonly Uint8Array[] => {
    try {
      stream.push(bytes, isLast);
    } catch (cause) {
      throw new ImportProblem(`${path} is damaged: ${messageOf(cause)}`, { cause });
    }
    const pieces = ready;
    ready = [];
    for (const { length } of pieces) total += length;
    if (total > MAX_UNPACKED) throw new ImportProblem(`${path} is too large`);
    return pieces;
  };
  for await (const bytes of chunks(file, path)) yield* push(Uint8Array.from(bytes), false);
  yield* push(new Uint8Array(0), true);
  if (!isWhole) throw new ImportProblem(`${path} is damaged: it ends too early`);
}

class LineSplitter {
  #pieces: Buffer[] = [];
  #length = 0;
  #end = 0;
  #tooLong = false;

  take(bytes: Uint8Array): readonly SessionLine[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const lines: SessionLine[] = [];
    let left = 0;
    for (;;) {
      const right = chunk.indexOf(LF, left);
      if (right < 0) break;
      this.#add(chunk.subarray(left, right));
      this.#end += 1;
      lines.push(this.#line());
      left = right + 1;
    }
    // Copies the rest: the chunk's buffer may be reused.
    this.#add(Buffer.from(chunk.subarray(left)));
    return lines;
  }

  /** Returns the text after the last newline. */
  rest(): SessionLine | undefined {
    return this.#length === 0 && !this.#tooLong ? undefined : this.#line();
  }

  #add(piece: Buffer): void {
    this.#end += piece.length;
    this.#length += piece.length;
    if (this.#length > MAX_LINE) this.#tooLong = true;
    if (this.#tooLong) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  #line(): SessionLine {
    const text = this.#tooLong ? undefined : Buffer.concat(this.#pieces).toString("utf8");
    this.#pieces = [];
    this.#length = 0;
    this.#tooLong = false;
    return { text, end: this.#end };
  }
}
