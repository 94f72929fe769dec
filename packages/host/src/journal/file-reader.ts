import type { Place } from "../core/life/views.ts";
import type { Log } from "../observe/log.ts";
import type { AppendFile, Files, ReadFile } from "../platform/platform.ts";
import { commitOf } from "./commit-format.ts";
import { type Line, linesBackwards, linesForwards, locate } from "./commit-lines.ts";
import type { JournalReader, Placed, WantedRecords } from "./journal.ts";
import type { LeftOut } from "./left-out.ts";
import { oneByOne } from "./one-by-one.ts";

const CHUNK_BYTES = 64 * 1024;
const LF = 0x0a;

/** A crash may leave the last line without its end: it was never acknowledged, so it goes. */
export async function cutTornTail(files: Files, file: AppendFile, path: string, log: Log): Promise<void> {
  const bytes = await tornBytes(files, file, path);
  if (bytes === 0) return;
  log.warn("cut a torn last line", { path, bytes });
  await file.truncate(file.size - bytes);
}

/** How much is behind the last whole line. */
export async function tornBytes(files: Files, { size }: AppendFile, path: string): Promise<number> {
  const reader = size === 0 ? undefined : await files.openRead(path);
  if (reader === undefined) return 0;
  try {
    return size - (await endOfLastLine(reader, size));
  } finally {
    await reader.close();
  }
}

/** What a reader of files needs from around it. */
export interface ReadingPorts {
  readonly leftOut: LeftOut;
  /** Lets others go on. */
  pause(): Promise<void>;
}

/**
 * Reads a journal up to the place where it ended when reading began. Another host may append meanwhile: two looks that
 * saw different ends would contradict each other.
 */
export class FileReader implements JournalReader {
  readonly place: Place;
  readonly blob: JournalReader["blob"];
  readonly #threadId: string;
  readonly #file: LastRead;
  readonly #ports: ReadingPorts;
  /** Behind the last whole line. */
  #end: Promise<number> | undefined;

  /** `end`: where the last whole line ends, if that is known. */
  constructor(
    threadId: string,
    place: Place,
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

  backwards(before?: number, wanted?: WantedRecords): AsyncIterable<Placed> {
    return commitsOf(this.linesBefore(before), this.#threadId, this.place, this.#ports, wanted);
  }

  forwards(from = 0, wanted?: WantedRecords): AsyncIterable<Placed> {
    return commitsOf(this.linesFrom(from), this.#threadId, this.place, this.#ports, wanted);
  }

  naming(text: string, from = 0): AsyncIterable<Placed> {
    return commitsOf(this.linesNaming(text, from), this.#threadId, this.place, this.#ports);
  }

  async *linesBefore(before: number | undefined): AsyncGenerator<readonly Line[]> {
    const end = await this.#wholeEnd();
    // `before` may come from another journal, and be no line's end.
    yield* linesBackwards(
      this.#file,
      before === undefined || before >= end ? end : await this.#endIn(before),
    );
  }

  async *linesFrom(from = 0): AsyncGenerator<readonly Line[]> {
    // From the byte before, which ends a line if the place is right: then nothing of a line is left of it.
    const start = Math.max(0, from - 1);
    for await (const lines of linesForwards(this.#file, start, await this.#wholeEnd())) {
      yield lines[0]!.start < from ? lines.slice(1) : lines;
    }
  }

  async *linesNaming(text: string, from?: number): AsyncGenerator<readonly Line[]> {
    for await (const lines of this.linesFrom(from)) yield lines.filter((line) => line.has(text));
  }

  async locate(seq: number): Promise<number> {
    return locate(this.#file, await this.#wholeEnd(), seq);
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#wholeEnd()) === 0;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Found once. Someone may be writing the next line. */
  #wholeEnd(): Promise<number> {
    this.#end ??= this.#file.size().then((size) => this.#endIn(size));
    return this.#end;
  }

  /** Behind the last whole line of the first `size` bytes. */
  async #endIn(size: number): Promise<number> {
    // Whoever asks reads on from there, and most need no more than this: it is read once for both.
    await this.#file.read(Math.max(0, size - CHUNK_BYTES), Math.min(size, CHUNK_BYTES));
    return endOfLastLine(this.#file, size);
  }
}

/** A file of which what was read last is not read again. */
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

/** The commits of lines. What cannot be read is left out, and reported when the pass is over. */
export function commitsOf(
  lines: AsyncGenerator<readonly Line[]>,
  threadId: string,
  { path }: Place,
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
  return oneByOne(ending(), (line) => commitOf(line, threadId, reading.leaveOut, wanted), pause);
}

/** Behind the last LF of the first `size` bytes; 0 if there is none. */
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
