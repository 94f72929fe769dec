import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { AppendFile, Files, ReadFile } from "../../platform/platform.ts";
import { commitOf } from "./commit-format.ts";
import { isThreadId } from "./journal-paths.ts";
import { type Line, linesForwards } from "./read-lines.ts";

/** Size at which all threads that are only in this file get their journals, after which the file is emptied. */
const CUT_BYTES = 4 * 1024 * 1024;

const LF = 0x0a;

/**
 * A file with the first commits of new threads, which the host keeps open. A start waits for one write instead of new
 * directory entries. A thread's journal is created when the thread is first used, and then marked as created in this
 * file.
 */
export class StartLog {
  readonly #path: () => string;
  readonly #files: Files;
  #file: Promise<AppendFile> | undefined;
  #reading: Promise<ReadFile | undefined> | undefined;
  /** Functions that create the journals of threads that are only in this file. */
  readonly #unmade = new Map<string, () => Promise<void>>();
  /** The offset of each thread's line, for all lines in the file. */
  readonly #lines = new Map<string, number>();
  /** Whether the file has become too long, and journals for all its threads are being created. */
  #cutting = false;
  /** Serializes erasing a line and emptying the file, because the offsets are invalid after the file was emptied. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(path: () => string, files: Files) {
    this.#path = path;
    this.#files = files;
  }

  /**
   * Appends a thread's first commit. From then on, the thread survives a kill of this process. Returns the offset of
   * the line, which is valid until `made`.
   */
  async add(threadId: string, line: Uint8Array, make: () => Promise<void>): Promise<number> {
    // Set before the write, because the file is not emptied while an entry exists.
    this.#unmade.set(threadId, make);
    let file: AppendFile;
    let at: number;
    try {
      file = await this.#open();
      at = await file.append(line);
      this.#lines.set(threadId, at);
    } catch (cause) {
      this.#unmade.delete(threadId);
      throw cause;
    }
    if (file.size >= CUT_BYTES) this.#cut(make);
    return at;
  }

  /**
   * Creates the journals of all threads in the file once, and after that only of each added thread: creating all
   * again each time would never end.
   */
  #cut(added: () => Promise<void>): void {
    const makeNow = this.#cutting ? [added] : [...this.#unmade.values()];
    this.#cutting = true;
    for (const make of makeNow) {
      make().catch(() => {
        // The next use of the thread reports the failure, and the next start tries again.
        this.#cutting = false;
      });
    }
  }

  /** Reads the line of a thread that has no journal yet. */
  async read(at: number, length: number): Promise<Uint8Array> {
    this.#reading ??= this.#files.openRead(this.#path()).catch((cause) => {
      this.#reading = undefined;
      throw cause;
    });
    const line = await (await this.#reading)?.read(at, length);
    if (line?.length !== length || line.at(-1) !== LF)
      throw new Error(`${this.#path()} is not as it was written`);
    return line;
  }

  /** Marks that the thread has its journal or was deleted, so that no host creates it again from this file. */
  async made(threadId: string): Promise<void> {
    const file = await this.#open();
    await file.append(madeLine(threadId));
    this.#unmade.delete(threadId);
    if (this.#unmade.size > 0) return;
    this.#cutting = false;
    await this.#change(async () => {
      if (this.#unmade.size > 0) return;
      // All threads of the file are marked. If the file cannot be emptied now, the next call empties it.
      await file.truncate(0).then(
        () => this.#lines.clear(),
        () => {},
      );
    });
  }

  /** Creates the journal of a thread that is only in this file. Does nothing for other threads. */
  async make(threadId: string): Promise<void> {
    await this.#unmade.get(threadId)?.();
  }

  /** Overwrites the line of a deleted thread. Other lines keep their offsets. */
  erase(threadId: string): Promise<void> {
    return this.#change(async () => {
      const at = this.#lines.get(threadId);
      if (at === undefined) return;
      const length = await this.#lengthAt(at);
      // The line's LF stays, so that its neighbours remain separate lines.
      if (length > 1) await this.#files.erase(this.#path(), at, length - 1);
      this.#lines.delete(threadId);
    });
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastChange.then(work);
    this.#lastChange = done.catch(() => {});
    return done;
  }

  async #lengthAt(at: number): Promise<number> {
    const file = await this.#files.openRead(this.#path());
    if (file === undefined) return 0;
    try {
      for await (const [line] of linesForwards(file, at, await file.size())) return line!.end - at;
      return 0;
    } finally {
      await file.close();
    }
  }

  async close(): Promise<void> {
    const file = await this.#file;
    if (file === undefined) return;
    await (await this.#reading)?.close();
    await file.close();
    // Threads without a journal are left to the next start. Not fsynced, because the journals that were created from
    // the file are not, either. If the file cannot be removed, it recreates nothing, because all its threads are
    // marked.
    if (this.#unmade.size === 0) await this.#files.remove(this.#path()).catch(() => {});
  }

  #open(): Promise<AppendFile> {
    this.#file ??= this.#files.openAppend(this.#path()).catch((cause) => {
      this.#file = undefined;
      throw cause;
    });
    return this.#file;
  }
}

export const STARTS = ".starts";

/** The threads that a dead host acknowledged but did not create. */
export interface Unmade {
  /** First lines, by thread. */
  readonly lines: ReadonlyMap<string, Uint8Array>;
  /** Whether the file contains commits of a newer version of this program. */
  readonly newer: boolean;
}

export async function unmade(files: Files, path: string): Promise<Unmade> {
  const lines = new Map<string, Uint8Array>();
  let newer = false;
  const file = await files.openRead(path);
  if (file === undefined) return { lines, newer };
  try {
    for await (const batch of linesForwards(file, 0, await file.size())) {
      for (const line of batch) {
        const mark = MADE.exec(Buffer.from(line.bytes).toString("latin1"));
        if (mark !== null) {
          lines.delete(mark[1]!);
          continue;
        }
        const threadId = startedBy(line);
        if (threadId === "newer") newer = true;
        else if (threadId !== undefined) lines.set(threadId, Uint8Array.from(line.bytes));
      }
    }
  } finally {
    await file.close();
  }
  return { lines, newer };
}

const MADE = /^\{"made":"([0-9a-f-]{36})"\}\n$/;

/** Returns the thread that a line starts; undefined if the line is damaged. */
function startedBy(line: Line): string | "newer" | undefined {
  try {
    const first = commitOf(line, undefined, () => {})?.commit.records[0];
    return first?.type === "created" && isThreadId(first.facts.id) ? first.facts.id : undefined;
  } catch {
    return "newer";
  }
}

/** The owner of the thread that a line of `unmade` starts. */
export function startedOwner(line: Uint8Array): string {
  const { records } = JSON.parse(Buffer.from(line).toString()) as Commit;
  return (records[0] as Extract<ThreadRecord, { type: "created" }>).facts.owner;
}

/** Marks threads of a dead host as created. */
export async function markMade(files: Files, path: string, threadIds: Iterable<string>): Promise<void> {
  const file = await files.openAppend(path);
  try {
    for (const id of threadIds) await file.append(madeLine(id));
    await file.sync();
  } finally {
    await file.close();
  }
}

function madeLine(threadId: string): Uint8Array {
  return Buffer.from(`${JSON.stringify({ made: threadId })}\n`);
}
