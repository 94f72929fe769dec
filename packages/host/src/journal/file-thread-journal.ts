import type { Place } from "../core/life/views.ts";
import type { Commit } from "../core/records.ts";
import type { Log } from "../observe/log.ts";
import type { FewAtOnce } from "../platform/few-at-once.ts";
import type { AppendFile, Files } from "../platform/platform.ts";
import { blobFolders, keepBlob, readBlob } from "./blobs.ts";
import { commitLine } from "./commit-format.ts";
import type { Line } from "./commit-lines.ts";
import { commitsOf, FileReader, type ReadingPorts, tornBytes } from "./file-reader.ts";
import type { AppendOutcome, Placed, ThreadJournal, WantedRecords } from "./journal.ts";
import type { Leases } from "./leases.ts";
import type { MadeThreads } from "./made-threads.ts";
import type { Holder, OpenFiles } from "./open-files.ts";
import { archivePath, sessionPath } from "./paths.ts";
import { saved } from "./saved.ts";
import type { Starts } from "./starts.ts";

/** What all journals of one home share. */
export interface Shared {
  readonly home: string;
  readonly files: Files;
  readonly leases: Leases;
  readonly openFiles: OpenFiles;
  readonly starts: Starts;
  /** Nothing that any host keeps of a thread's start makes the thread again. */
  settleStarts(threadId: string): Promise<void>;
  readonly making: FewAtOnce;
  /** Threads whose journals were made here. */
  readonly made: MadeThreads;
  readonly log: Log;
  readonly reading: ReadingPorts;
}

/** A new thread's way to a journal of its own. */
type Birth =
  | { readonly kind: "new" }
  /** Its first commit is among the starts, which is enough until it is used. */
  | {
      readonly kind: "acknowledged";
      readonly at: number;
      readonly length: number;
      /** Undefined while it rests: the file has it. */
      readonly line: Uint8Array | undefined;
    }
  | { readonly kind: "making"; readonly making: Promise<void> }
  | { readonly kind: "made" };

const RESTING: Promise<void> = Promise.resolve();

/** One thread's file, held for writing. */
export class FileThreadJournal implements ThreadJournal, Holder {
  readonly #threadId: string;
  readonly #shared: Shared;
  #archived: boolean;
  #file: Promise<AppendFile> | undefined;
  #birth: Birth;
  /** Where the next commit goes; if the file ends elsewhere, someone else has written to it. */
  #size: number;
  /** There is a file of its that could be neither made nor removed. */
  #halfMade = false;
  #using = 0;
  #givenBack = false;

  /** `file` is undefined for a new thread. */
  constructor(threadId: string, place: Place, file: AppendFile | undefined, shared: Shared) {
    this.#threadId = threadId;
    this.#archived = place.archived;
    this.#shared = shared;
    this.#size = file?.size ?? 0;
    this.#birth = file === undefined ? { kind: "new" } : { kind: "made" };
    if (file === undefined) return;
    this.#file = Promise.resolve(file);
    shared.openFiles.used(this);
  }

  get place(): Place {
    return { path: this.#path, archived: this.#archived };
  }

  get folder(): string {
    return this.#blobs[0];
  }

  get #blobs(): readonly [string, string] {
    return blobFolders(this.#shared.home, this.#threadId, this.#archived);
  }

  get #path(): string {
    return (this.#archived ? archivePath : sessionPath)(this.#shared.home, this.#threadId);
  }

  get undone(): boolean {
    return this.#shared.leases.undone(this.#threadId);
  }

  leaveUndone(): void {
    this.#shared.leases.leaveUndone(this.#threadId);
  }

  madeGood(): void {
    this.#shared.leases.madeGood(this.#threadId);
  }

  async append(...commits: Commit[]): Promise<AppendOutcome> {
    try {
      if (this.#birth.kind === "new") return await this.#start(commits);
      return await this.#write(async (file) => {
        const end = file.end();
        if ((typeof end === "number" ? end : await end) !== this.#size) return { kind: "conflict" };
        const [first, ...rest] = commits.map(commitLine);
        const lines = rest.length === 0 ? first! : Buffer.concat([first!, ...rest]);
        await file.append(lines);
        this.#size = file.size;
        return { kind: "committed", bytes: lines.length };
      });
    } catch (cause) {
      return { kind: "unknown", cause };
    }
  }

  /** Acknowledged by one write; the journal is made when it is first used. */
  async #start([first, ...rest]: readonly Commit[]): Promise<AppendOutcome> {
    const { starts } = this.#shared;
    const line = commitLine(first!);
    const at = await starts.add(this.#threadId, line, () => this.#makeForOthers());
    this.#birth = { kind: "acknowledged", at, length: line.length, line };
    if (rest.length > 0) return this.append(...rest);
    return { kind: "committed", bytes: line.length };
  }

  /** One that was closed when it could not be made is held by nobody, and must not stay open. */
  async #makeForOthers(): Promise<void> {
    await this.#make();
    if (!this.#givenBack) return;
    await this.rest();
    this.#giveBack();
  }

  /** Resolves when there is a journal of its own. */
  #make(): Promise<void> {
    if (this.#birth.kind === "acknowledged") {
      const { at, length, line } = this.#birth;
      const making = this.#shared.making.run(async () => {
        await this.#makeOf(line ?? (await this.#shared.starts.read(at, length)));
      });
      this.#birth = { kind: "making", making };
      // Whoever waits for it is told. Whoever comes next tries again.
      making.catch(() => {
        this.#birth = { kind: "acknowledged", at, length, line };
      });
    }
    return this.#birth.kind === "making" ? this.#birth.making : Promise.resolve();
  }

  async #makeOf(line: Uint8Array): Promise<void> {
    const { leases, starts, openFiles } = this.#shared;
    // First: another host that finds the file takes the thread, unless it is taken.
    const { undone } = this;
    await leases.take(this.#threadId);
    // What a host left of it that died before it was made is none of its own.
    if (!undone) leases.madeGood(this.#threadId);
    this.#shared.made.add(this.#threadId);
    const opening = this.#openNew();
    try {
      const file = await opening;
      await file.append(line);
      await starts.made(this.#threadId);
      this.#size = file.size;
      this.#file = opening;
      openFiles.used(this);
      this.#birth = { kind: "made" };
    } catch (cause) {
      await this.#unmake(opening);
      throw cause;
    }
  }

  /** An empty file for a thread that has none. */
  async #openNew(): Promise<AppendFile> {
    const { files } = this.#shared;
    try {
      return await files.openAppend(this.#path, { fresh: true });
    } catch (cause) {
      if ((cause as { code?: unknown }).code !== "EEXIST") throw cause;
      const file = await files.openAppend(this.#path);
      // A power cut may keep the name of a file and nothing of its first line.
      const isEmpty = this.#halfMade || (await tornBytes(files, file, this.#path)) === file.size;
      if (isEmpty) {
        await file.truncate(0);
        return file;
      }
      await file.close();
      throw cause;
    }
  }

  /** What is there of a journal that could not be made goes: its first commit is among the starts as before. */
  async #unmake(opening: Promise<AppendFile>): Promise<void> {
    const file = await opening.catch(() => undefined);
    if (file === undefined) return;
    await file.close();
    this.#halfMade = true;
    await this.#shared.files.remove(this.#path);
    this.#halfMade = false;
  }

  sync(): Promise<void> {
    return this.#write((file) => file.sync());
  }

  backwards(before?: number, wanted?: WantedRecords): AsyncIterable<Placed> {
    return this.#commits((reader) => reader.linesBefore(before), wanted);
  }

  forwards(from?: number, wanted?: WantedRecords): AsyncIterable<Placed> {
    return this.#commits((reader) => reader.linesFrom(from), wanted);
  }

  naming(text: string, from?: number): AsyncIterable<Placed> {
    return this.#commits((reader) => reader.linesNaming(text, from));
  }

  #commits(
    lines: (reader: FileReader) => AsyncGenerator<readonly Line[]>,
    wanted?: WantedRecords,
  ): AsyncIterable<Placed> {
    return commitsOf(this.#lines(lines), this.#threadId, this.place, this.#shared.reading, wanted);
  }

  async *#lines(
    lines: (reader: FileReader) => AsyncGenerator<readonly Line[]>,
  ): AsyncGenerator<readonly Line[]> {
    const reader = await this.#reader();
    try {
      yield* lines(reader);
    } finally {
      await reader.close();
    }
  }

  locate(seq: number): Promise<number> {
    return this.#read((reader) => reader.locate(seq));
  }

  isEmpty(): Promise<boolean> {
    return this.#read((reader) => reader.isEmpty());
  }

  async #read<T>(work: (reader: FileReader) => Promise<T>): Promise<T> {
    const reader = await this.#reader();
    try {
      return await work(reader);
    } finally {
      await reader.close();
    }
  }

  blob(name: string): Promise<Uint8Array | undefined> {
    return readBlob(this.#shared.files, this.#blobs, name);
  }

  keep(name: string, bytes: Uint8Array): Promise<void> {
    return saved(() => keepBlob(this.#shared.files, this.#blobs[0], name, bytes));
  }

  letGo(): boolean {
    if (this.#using > 0 || this.#birth.kind !== "made") return false;
    void this.rest().catch((cause) => this.#shared.log.warn("closing a journal failed", { cause }));
    return true;
  }

  rest(): Promise<void> {
    if (this.#birth.kind === "acknowledged") this.#birth = { ...this.#birth, line: undefined };
    return this.#file === undefined && this.#birth.kind !== "making" ? RESTING : this.#rest();
  }

  async #rest(): Promise<void> {
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
    const { files } = this.#shared;
    const [here, there] = this.#blobs;
    await saved(async () => {
      await files.rename(this.#path, path);
      this.#archived = archived;
      if (await files.exists(here)) await files.rename(here, there);
    });
  }

  async destroy(): Promise<void> {
    await this.rest();
    // Before anything that is left of it could make it again.
    if (this.#birth.kind === "acknowledged") await this.#shared.starts.made(this.#threadId);
    this.#birth = { kind: "made" };
    await this.#shared.settleStarts(this.#threadId);
    for (const folder of this.#blobs) await saved(() => this.#shared.files.remove(folder, { synced: true }));
    await saved(() => this.#shared.files.remove(this.#path, { synced: true }));
    this.madeGood();
    this.#giveBack();
  }

  async close(): Promise<void> {
    if (this.#givenBack) return;
    try {
      await this.#make();
    } finally {
      await this.rest();
      this.#giveBack();
    }
  }

  #giveBack(): void {
    this.#givenBack = true;
    this.#shared.leases.giveBack(this.#threadId);
  }

  async #write<T>(work: (file: AppendFile) => Promise<T>): Promise<T> {
    this.#using++;
    try {
      await this.#make();
      this.#file ??= this.#shared.files.openAppend(this.#path);
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
    const file = await this.#shared.files.openRead(this.#path);
    if (file === undefined) throw new Error(`the journal ${this.#path} is gone`);
    const { reading } = this.#shared;
    return new FileReader(this.#threadId, this.place, file, reading, (name) => this.blob(name), this.#size);
  }
}
