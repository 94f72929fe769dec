import type { JournalLocation } from "../../core/life/thread-view.ts";
import type { Log } from "../../observe/log.ts";
import type { AppendFile, Files, ReadFile } from "../../platform/platform.ts";
import type { Hint, JournalReader, Placed, Position, WantedRecords } from "../journal.ts";
import { iterateBatches } from "./batch-iterator.ts";
import { commitOf } from "./commit-format.ts";
import type { DamageReport } from "./damage-report.ts";
import { findCommitBySeq } from "./find-commit-by-seq.ts";
import { type Line, linesBackwards, linesForwards, seqOf } from "./read-lines.ts";

const CHUNK_BYTES = 64 * 1024;
const LF = 0x0a;

/** Removes an incomplete last line, which a crash may leave. Such a commit was never acknowledged. */
export async function cutTornTail(files: Files, file: AppendFile, path: string, log: Log): Promise<void> {
  const bytes = await tornBytes(files, file, path);
  if (bytes === 0) return;
  log.warn("cut a torn last line", { path, bytes });
  await file.truncate(file.size - bytes);
}

/** Returns the number of bytes after the last complete line. */
export async function tornBytes(files: Files, { size }: AppendFile, path: string): Promise<number> {
  const reader = size === 0 ? undefined : await files.openRead(path);
  if (reader === undefined) return 0;
  try {
    return size - (await endOfLastLine(reader, size));
  } finally {
    await reader.close();
  }
}

/** Dependencies of a reader. */
export interface ReadingPorts {
  readonly leftOut: DamageReport;
  /** Yields to the event loop. */
  pause(): Promise<void>;
}

/**
 * Reads a journal up to the end that it had when reading began. Another host may append in between, and reads with
 * different ends would contradict each other.
 */
export class JournalFileReader implements JournalReader {
  readonly place: JournalLocation;
  readonly blob: JournalReader["blob"];
  readonly #threadId: string;
  readonly #file: LastRead;
  readonly #ports: ReadingPorts;
  /** Offset after the last complete line. */
  #end: Promise<number> | undefined;

  /** `end` is the offset after the last complete line, if known. */
  constructor(
    threadId: string,
    place: JournalLocation,
    file: ReadFile,
    ports: ReadingPorts,
    blob: JournalReader["blob"],
    end?: number,
  ) {
    this.#threadId = threadId;
    this.place = place;
    this.#file = new LastRead(file);
    this.#ports = ports;
    this.blob = blob;
    this.#end = end === undefined ? undefined : Promise.resolve(end);
  }

  backwards(through?: Position, wanted?: WantedRecords): AsyncIterable<Placed> {
    return commitsOf(this.linesBack(through), this.#threadId, this.place, this.#ports, wanted);
  }

  forwards(from?: Position, wanted?: WantedRecords): AsyncIterable<Placed> {
    return commitsOf(this.linesFrom(from), this.#threadId, this.place, this.#ports, wanted);
  }

  naming(text: string, from?: Position): AsyncIterable<Placed> {
    return commitsOf(this.linesNaming(text, from), this.#threadId, this.place, this.#ports);
  }

  async *linesBack(through: Position | undefined): AsyncGenerator<readonly Line[]> {
    const end = await this.#wholeEnd();
    if (through === undefined) return yield* linesBackwards(this.#file, end);
    const { seq } = through;
    const offset = offsetOf(through.hint) ?? 0;
    let isRight = false;
    if (offset > 0 && offset <= end) {
      for await (const lines of linesBackwards(this.#file, offset)) {
        // The line before the hint is read in any case, and shows whether the hint is right.
        isRight ||= seqOf(lines[0]!.bytes) === seq && lines[0]!.bytes.at(-1) === LF;
        if (!isRight) break;
        yield lines;
      }
    }
    if (!isRight) yield* linesBackwards(this.#file, await findCommitBySeq(this.#file, end, seq + 1));
  }

  async *linesFrom(from: Position | undefined): AsyncGenerator<readonly Line[]> {
    const end = await this.#wholeEnd();
    if (from === undefined) return yield* linesForwards(this.#file, 0, end);
    const { seq } = from;
    const offset = offsetOf(from.hint) ?? end;
    let isRight = false;
    if (offset < end) {
      // Starts one byte before the hint, which must be an LF: then the hint is the start of a line.
      for await (const lines of linesForwards(this.#file, Math.max(0, offset - 1), end)) {
        isRight ||= lines[0]!.start === offset && seqOf(lines[0]!.bytes) === seq;
        if (!isRight) break;
        yield lines;
      }
    }
    if (!isRight) yield* linesForwards(this.#file, await findCommitBySeq(this.#file, end, seq), end);
  }

  async *linesNaming(text: string, from?: Position): AsyncGenerator<readonly Line[]> {
    for await (const lines of this.linesFrom(from)) yield lines.filter((line) => line.has(text));
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#wholeEnd()) === 0;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** The offset after the last complete line. Determined once, because another host may be writing the next line. */
  #wholeEnd(): Promise<number> {
    this.#end ??= this.#file.size().then((size) => this.#endIn(size));
    return this.#end;
  }

  /** Returns the offset after the last complete line of the first `size` bytes. */
  async #endIn(size: number): Promise<number> {
    // Reads the last chunk, which callers need next. It is cached for both uses.
    await this.#file.read(Math.max(0, size - CHUNK_BYTES), Math.min(size, CHUNK_BYTES));
    return endOfLastLine(this.#file, size);
  }
}

/** A file that caches the last read. */
class LastRead implements ReadFile {
  readonly #file: ReadFile;
  #start = 0;
  #bytes: Uint8Array = new Uint8Array(0);

  constructor(file: ReadFile) {
    this.#file = file;
  }

  size(): Promise<number> {
    return this.#file.size();
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const at = position - this.#start;
    if (at >= 0 && at + length <= this.#bytes.length) return this.#bytes.subarray(at, at + length);
    const bytes = await this.#file.read(position, length);
    [this.#start, this.#bytes] = [position, bytes];
    return bytes;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Parses lines to commits. Unreadable parts are skipped and reported at the end of the pass. */
export function commitsOf(
  lines: AsyncGenerator<readonly Line[]>,
  threadId: string,
  { path }: JournalLocation,
  { leftOut, pause }: ReadingPorts,
  wanted?: WantedRecords,
): AsyncIterable<Placed> {
  const reading = leftOut.reading(path!);
  const ending = async function* (): AsyncGenerator<readonly Line[]> {
    try {
      yield* lines;
    } finally {
      reading.done();
    }
  };
  return iterateBatches(ending(), (line) => commitOf(line, threadId, reading.leaveOut, wanted), pause);
}

/** Returns the offset after the last LF of the first `size` bytes; 0 if there is none. */
async function endOfLastLine(file: ReadFile, size: number): Promise<number> {
  if (size > 0 && (await file.read(size - 1, 1))[0] === LF) return size;
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - CHUNK_BYTES);
    const last = Buffer.from(await file.read(from, end - from)).lastIndexOf(LF);
    if (last >= 0) return from + last + 1;
    end = from;
  }
  return 0;
}

/** The file offset in a hint; undefined if there is none, also for a hint of another adapter. */
function offsetOf(hint: Hint | undefined): number | undefined {
  if (typeof hint !== "string") return hint;
  return /^\d{1,15}$/.test(hint) ? Number(hint) : undefined;
}
