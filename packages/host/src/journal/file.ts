import { join } from "node:path";
import type { Place } from "../core/life/views.ts";
import type { Commit } from "../core/records.ts";
import { Fault, fault } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import type { AppendFile, Files, Platform, ReadFile } from "../platform/platform.ts";
import { commitLine, commitsOf, linesBackwards, linesForwards, locate } from "./commit-lines.ts";
import { FewAtOnce } from "./few-at-once.ts";
import type { AppendOutcome, Journal, JournalReader, Placed, ThreadJournal } from "./journal.ts";
import { Leases } from "./leases.ts";
import { type Holder, OpenFiles } from "./open-files.ts";
import { archivePath, sessionPath, threadIdOf } from "./paths.ts";
import type { Starts } from "./starts.ts";

/** Journals that are open for writing at once; a process may have some 1,000 files open, sockets included. */
const MAX_OPEN = 256;

/** Journals that are made at once behind their threads' start. */
const MAX_MAKING = 16;

/** Journals as JSON lines under the home directory. */
export function fileJournal(
  home: string,
  platform: Platform,
  log: Log,
  beforeGivingBack: () => Promise<void>,
): Journal {
  const { files } = platform;
  const leases = new Leases(home, platform, beforeGivingBack);
  const shared: Shared = {
    home,
    files,
    leases,
    openFiles: new OpenFiles(MAX_OPEN),
    starts: leases.starts,
    making: new FewAtOnce(MAX_MAKING),
    log,
  };

  const look = async (threadId: string): Promise<Place | undefined> => {
    const active = sessionPath(home, threadId);
    if (await files.exists(active)) return { path: active, archived: false };
    const archived = archivePath(home, threadId);
    return (await files.exists(archived)) ? { path: archived, archived: true } : undefined;
  };

  /** Makes the journals that hosts which are gone did not get to make. */
  const takeUp = () =>
    leases.takeUp(async (threadId, line) => {
      const path = (await look(threadId))?.path ?? sessionPath(home, threadId);
      const file = await files.openAppend(path);
      try {
        // It may be there without a whole line in it.
        await cutTornTail(files, file, path, log);
        if (file.size === 0) await file.append(line);
      } finally {
        await file.close();
      }
    });

  const find = async (threadId: string): Promise<Place | undefined> => {
    const place = await look(threadId);
    if (place !== undefined) return place;
    await takeUp();
    return look(threadId);
  };

  return {
    create(threadId) {
      return saved(async () => {
        await leases.announce();
        const place = { path: sessionPath(home, threadId), archived: false };
        return new FileThreadJournal(threadId, place, undefined, shared);
      });
    },
    open(threadId) {
      return saved(async () => {
        if ((await find(threadId)) === undefined) return undefined;
        await leases.take(threadId);
        try {
          // Whoever had it may have moved it before giving it back.
          const place = await find(threadId);
          if (place !== undefined) {
            const file = await files.openAppend(place.path!);
            await cutTornTail(files, file, place.path!, log);
            return new FileThreadJournal(threadId, place, file, shared);
          }
        } catch (cause) {
          leases.giveBack(threadId);
          throw cause;
        }
        leases.giveBack(threadId);
        return undefined;
      });
    },
    async read(threadId) {
      const place = await find(threadId);
      if (place === undefined) return undefined;
      const file = await files.openRead(place.path!);
      return file && new FileReader(place, file, log);
    },
    async *threads() {
      for await (const name of walk(files, join(home, "sessions"), 3)) {
        const id = threadIdOf(name);
        if (id !== undefined) yield { id, archived: false };
      }
      for await (const name of walk(files, join(home, "archived_sessions"), 0)) {
        const id = threadIdOf(name);
        if (id !== undefined) yield { id, archived: true };
      }
    },
    async abandoned() {
      await takeUp();
      return leases.abandoned();
    },
    async disown(threadId) {
      await leases.take(threadId);
      leases.giveBack(threadId);
    },
    close: () => leases.close(),
  };
}

/** What the disk refuses is told as that, and not as a fault of ours. */
async function saved<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw fault("storageFailed", cause instanceof Error ? cause.message : String(cause));
  }
}

/** A crash may leave the last line without its end: it was never acknowledged, so it goes. */
async function cutTornTail(files: Files, file: AppendFile, path: string, log: Log): Promise<void> {
  if (file.size === 0) return;
  const reader = await files.openRead(path);
  if (reader === undefined) return;
  try {
    let end = file.size;
    while (end > 0) {
      const from = Math.max(0, end - 64 * 1024);
      const chunk = Buffer.from(await reader.read(from, end - from));
      const last = chunk.lastIndexOf(0x0a);
      if (last >= 0) {
        end = from + last + 1;
        break;
      }
      end = from;
    }
    if (end === file.size) return;
    log.warn("cut a torn last line", { path, bytes: file.size - end });
    await file.truncate(end);
  } finally {
    await reader.close();
  }
}

async function* walk(files: Files, folder: string, depth: number): AsyncIterable<string> {
  for (const entry of await files.list(folder)) {
    if (!entry.folder) yield entry.name;
    else if (depth > 0) yield* walk(files, join(folder, entry.name), depth - 1);
  }
}

/** A journal that is only read; the end is where it is when reading starts. */
class FileReader implements JournalReader {
  readonly place: Place;
  readonly #file: ReadFile;
  readonly #log: Log;

  constructor(place: Place, file: ReadFile, log: Log) {
    this.place = place;
    this.#file = file;
    this.#log = log;
  }

  async *backwards(before?: number): AsyncIterable<Placed> {
    yield* commitsOf(linesBackwards(this.#file, before ?? (await this.#end())), this.#bad);
  }

  async *forwards(from = 0): AsyncIterable<Placed> {
    yield* commitsOf(linesForwards(this.#file, from, await this.#file.size()), this.#bad);
  }

  async locate(seq: number): Promise<number> {
    return locate(this.#file, await this.#end(), seq);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Behind the last whole line: someone may be writing the next. */
  async #end(): Promise<number> {
    const size = await this.#file.size();
    for (let end = size; end > 0; ) {
      const from = Math.max(0, end - 64 * 1024);
      const last = Buffer.from(await this.#file.read(from, end - from)).lastIndexOf(0x0a);
      if (last >= 0) return from + last + 1;
      end = from;
    }
    return 0;
  }

  readonly #bad = (start: number, end: number): void => {
    this.#log.warn("a line of a journal is no commit and was left out", {
      path: this.place.path,
      start,
      end,
    });
  };
}

/** What all journals of one home share. */
interface Shared {
  readonly home: string;
  readonly files: Files;
  readonly leases: Leases;
  readonly openFiles: OpenFiles;
  readonly starts: Starts;
  readonly making: FewAtOnce;
  readonly log: Log;
}

/** A new thread's way to a journal of its own. */
type Birth =
  | { readonly kind: "new" }
  /** Its first commit is among the starts, which is enough until it is used. */
  | { readonly kind: "acknowledged"; readonly line: Uint8Array }
  | { readonly kind: "making"; readonly making: Promise<void> }
  | { readonly kind: "made" };

class FileThreadJournal implements ThreadJournal, Holder {
  readonly #threadId: string;
  readonly #shared: Shared;
  #place: Place;
  #file: Promise<AppendFile> | undefined;
  #birth: Birth;
  /** Where the next commit goes; if the file ends elsewhere, someone else has written to it. */
  #size: number;
  #using = 0;

  /** `file` is undefined for a new thread. */
  constructor(threadId: string, place: Place, file: AppendFile | undefined, shared: Shared) {
    this.#threadId = threadId;
    this.#place = place;
    this.#shared = shared;
    this.#size = file?.size ?? 0;
    this.#birth = file === undefined ? { kind: "new" } : { kind: "made" };
    if (file === undefined) return;
    this.#file = Promise.resolve(file);
    shared.openFiles.used(this);
  }

  get place(): Place {
    return this.#place;
  }

  async append(commit: Commit): Promise<AppendOutcome> {
    try {
      if (this.#birth.kind === "new") return await this.#start(commitLine(commit));
      return await this.#write(async (file) => {
        if (file.size !== this.#size) return { kind: "conflict" };
        await file.append(commitLine(commit));
        this.#size = file.size;
        return { kind: "committed" };
      });
    } catch (cause) {
      return { kind: "unknown", cause };
    }
  }

  /** Acknowledged by one write; the journal is made when it is first used. */
  async #start(line: Uint8Array): Promise<AppendOutcome> {
    const { starts } = this.#shared;
    await starts.add(this.#threadId, line, () => this.#make());
    this.#birth = { kind: "acknowledged", line };
    return { kind: "committed" };
  }

  /** Resolves when there is a journal of its own. */
  #make(): Promise<void> {
    if (this.#birth.kind === "acknowledged") {
      const { line } = this.#birth;
      const making = this.#shared.making.run(() => this.#makeOf(line));
      // Whoever waits for it is told.
      making.catch(() => {});
      this.#birth = { kind: "making", making };
    }
    return this.#birth.kind === "making" ? this.#birth.making : Promise.resolve();
  }

  async #makeOf(line: Uint8Array): Promise<void> {
    const { files, leases, starts, openFiles } = this.#shared;
    const [file] = await Promise.all([
      files.openAppend(this.#place.path!, { fresh: true }),
      leases.takeNew(this.#threadId),
    ]);
    this.#file = Promise.resolve(file);
    await file.append(line);
    this.#size = file.size;
    openFiles.used(this);
    await starts.made(this.#threadId);
    this.#birth = { kind: "made" };
  }

  sync(): Promise<void> {
    return this.#write((file) => file.sync());
  }

  async *backwards(before?: number): AsyncIterable<Placed> {
    const reader = await this.#reader();
    try {
      yield* reader.backwards(before ?? this.#size);
    } finally {
      await reader.close();
    }
  }

  async *forwards(from?: number): AsyncIterable<Placed> {
    const reader = await this.#reader();
    try {
      yield* reader.forwards(from);
    } finally {
      await reader.close();
    }
  }

  async locate(seq: number): Promise<number> {
    const reader = await this.#reader();
    try {
      return await reader.locate(seq);
    } finally {
      await reader.close();
    }
  }

  letGo(): boolean {
    if (this.#using > 0 || this.#birth.kind !== "made") return false;
    void this.rest().catch((cause) => this.#shared.log.warn("closing a journal failed", { cause }));
    return true;
  }

  async rest(): Promise<void> {
    // Whether or not it could be made, what is open of it is closed.
    if (this.#birth.kind === "making") await this.#birth.making.catch(() => {});
    const file = this.#file;
    this.#file = undefined;
    this.#shared.openFiles.closed(this);
    await (await file)?.close();
  }

  async archive(archived: boolean): Promise<void> {
    await this.#make();
    await this.rest();
    const path = (archived ? archivePath : sessionPath)(this.#shared.home, this.#threadId);
    await saved(() => this.#shared.files.rename(this.#place.path!, path));
    this.#place = { path, archived };
  }

  async destroy(): Promise<void> {
    await this.rest();
    // Before anything that is left of it could make it again.
    if (this.#birth.kind === "acknowledged") await this.#shared.starts.made(this.#threadId);
    await this.#shared.starts.clear();
    await saved(() => this.#shared.files.remove(this.#place.path!));
    this.#shared.leases.giveBack(this.#threadId);
  }

  async close(): Promise<void> {
    try {
      await this.#make();
    } finally {
      await this.rest();
      this.#shared.leases.giveBack(this.#threadId);
    }
  }

  async #write<T>(work: (file: AppendFile) => Promise<T>): Promise<T> {
    this.#using++;
    try {
      await this.#make();
      this.#file ??= this.#shared.files.openAppend(this.#place.path!);
      this.#shared.openFiles.used(this);
      return await work(await this.#file);
    } catch (cause) {
      // What could not be opened, or is in doubt, is opened anew the next time.
      await this.rest().catch(() => {});
      throw cause;
    } finally {
      this.#using--;
    }
  }

  /** Opened for each use: what is read seldom should not hold a file open. */
  async #reader(): Promise<FileReader> {
    await this.#make();
    const file = await this.#shared.files.openRead(this.#place.path!);
    if (file === undefined) throw new Error(`the journal ${this.#place.path} is gone`);
    return new FileReader(this.#place, file, this.#shared.log);
  }
}
