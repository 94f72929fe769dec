import type { AppendFile, Files, ReadFile } from "../platform/platform.ts";
import { commitOf } from "./commit-format.ts";
import { type Line, linesForwards } from "./commit-lines.ts";
import { isThreadId } from "./paths.ts";

/** Past this, the threads that are only in this file get journals of their own, and it starts anew. */
const CUT_BYTES = 4 * 1024 * 1024;

const LF = 0x0a;

/**
 * The first commits of new threads, in one file that the host keeps open: a start waits for one write, and not for
 * new names on the disk. A thread's journal is made when it is first used, and then marked here.
 */
export class Starts {
  readonly #path: () => string;
  readonly #files: Files;
  #file: Promise<AppendFile> | undefined;
  #reading: Promise<ReadFile | undefined> | undefined;
  /** What makes each thread's journal that is not made. */
  readonly #unmade = new Map<string, () => Promise<void>>();
  /** Where each thread's line begins, for all lines that the file has, made or not. */
  readonly #lines = new Map<string, number>();
  /** The file is too long: all that it has are being made. */
  #cutting = false;
  /** Erasing a line and emptying the file take turns: in an emptied file a place is another line's. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(path: () => string, files: Files) {
    this.#path = path;
    this.#files = files;
  }

  /** From here on the thread survives a kill of this process. Tells where the line is, until `made`. */
  async add(threadId: string, line: Uint8Array, make: () => Promise<void>): Promise<number> {
    // First: while it is here, the file is not cut.
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

  /** Once for all that are there, then for each that comes: asking all of them each time would never end. */
  #cut(added: () => Promise<void>): void {
    const makeNow = this.#cutting ? [added] : [...this.#unmade.values()];
    this.#cutting = true;
    for (const make of makeNow) {
      make().catch(() => {
        // Told when its thread is used; the next start tries again.
        this.#cutting = false;
      });
    }
  }

  /** A line that was added and whose thread is not made. */
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

  /** The thread has its journal, or is gone: it is not made again from here. */
  async made(threadId: string): Promise<void> {
    const file = await this.#open();
    await file.append(madeLine(threadId));
    this.#unmade.delete(threadId);
    if (this.#unmade.size > 0) return;
    this.#cutting = false;
    await this.#change(async () => {
      if (this.#unmade.size > 0) return;
      // All that is in it is marked; if it cannot be cut now, it is the next time.
      await file.truncate(0).then(
        () => this.#lines.clear(),
        () => {},
      );
    });
  }

  /** Makes the journal of a thread that is only here; does nothing for any other. */
  async make(threadId: string): Promise<void> {
    await this.#unmade.get(threadId)?.();
  }

  /** A thread that is marked is deleted: its line is overwritten where it is. The other threads keep theirs. */
  erase(threadId: string): Promise<void> {
    return this.#change(async () => {
      const at = this.#lines.get(threadId);
      if (at === undefined) return;
      const length = await this.#lengthAt(at);
      // Its end stays: the lines around it are lines as before.
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
    // What was not made is left for the next start. Not synced: the journals that were made of it are not, either.
    // What can not be removed makes nothing again: all that is in it is marked.
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

/** What a host that is gone has left unmade. */
export interface Unmade {
  /** Lines by thread. */
  readonly lines: ReadonlyMap<string, Uint8Array>;
  /** There is something in it that only a later program can make. */
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

/** The thread that a line starts; undefined for what is damaged. */
function startedBy(line: Line): string | "newer" | undefined {
  try {
    const first = commitOf(line, undefined, () => {})?.commit.records[0];
    return first?.type === "created" && isThreadId(first.facts.id) ? first.facts.id : undefined;
  } catch {
    return "newer";
  }
}

/** Marks threads of a host that is gone as made. */
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
