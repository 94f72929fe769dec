import { join } from "node:path";
import type { JournalLocation } from "../../core/life/thread-view.ts";
import type { Durability } from "../../core/record-table.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import { fault } from "../../errors.ts";
import type { AppendFile } from "../../platform/platform.ts";
import type { StoredBlob } from "../blobs.ts";
import {
  type AppendOutcome,
  FOREIGN_WRITE,
  listOf,
  type Placed,
  type Position,
  type ThreadJournal,
  type WantedRecords,
} from "../journal.ts";
import { guardStorage } from "../storage-fault.ts";
import type { Head } from "../thread-head.ts";
import { blobFolders, keepBlob, listBlobs, readBlob } from "./blob-files.ts";
import { encodeBatch } from "./commit-format.ts";
import { JournalFileCreation } from "./journal-file-creation.ts";
import { commitsOf, JournalFileReader } from "./journal-file-reader.ts";
import { archivePath, sessionPath } from "./journal-paths.ts";
import type { Holder } from "./open-file-limit.ts";
import type { Line } from "./read-lines.ts";
import { settleUnknownAppend } from "./settle-unknown-append.ts";
import type { SharedJournalParts } from "./shared-journal-parts.ts";
import { ThreadClaim } from "./thread-claim.ts";

const RESTING: Promise<void> = Promise.resolve();

/** The journal file of one thread, which this host may write. */
export class FileThreadJournal implements ThreadJournal, Holder {
  readonly #threadId: string;
  readonly #shared: SharedJournalParts;
  readonly #claim: ThreadClaim;
  #archived: boolean;
  #file: Promise<AppendFile> | undefined;
  /** Creates the journal file of a new thread; undefined once there is a file. */
  #creation: JournalFileCreation | undefined;
  /** Offset of the next commit. If the file has another size, another host has written to it. */
  #size = 0;
  /** Sequence number of the last commit, once this host has written one. */
  #seq: number | undefined;
  /** Highest sequence number at the end of the journal, read before this host wrote to it. */
  #seenSeq: number | undefined;
  #using = 0;

  /** `file` is undefined for a new thread. */
  constructor(
    threadId: string,
    place: JournalLocation,
    file: AppendFile | undefined,
    shared: SharedJournalParts,
  ) {
    this.#threadId = threadId;
    this.#archived = place.archived;
    this.#shared = shared;
    this.#claim = new ThreadClaim(threadId, shared);
    if (file === undefined) this.#creation = new JournalFileCreation(threadId, shared);
    else this.#opened(file);
  }

  #opened(file: AppendFile): void {
    this.#size = file.size;
    this.#file = Promise.resolve(file);
    this.#shared.openFiles.used(this);
    this.#creation = undefined;
  }

  get place(): JournalLocation {
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

  get needsRecovery(): boolean {
    return this.#shared.claims.needsRecovery(this.#threadId);
  }

  markNeedsRecovery(): void {
    this.#shared.claims.markNeedsRecovery(this.#threadId);
  }

  markRecovered(): void {
    this.#shared.claims.markRecovered(this.#threadId);
  }

  async append(
    batch: Commit | readonly Commit[],
    durability: Durability = "written",
    state?: ThreadState,
  ): Promise<AppendOutcome> {
    const commits = listOf(batch);
    /** The running operation, reported if it fails. */
    let of: "write" | "sync" = "write";
    try {
      const first = commits[0];
      if (this.#creation?.isNew) return await this.#start(this.#creation, commits, durability, state);
      if (first !== undefined) {
        const last = this.#seq ?? this.#seenSeq ?? (await this.#readLastSeq());
        if (first.prev !== last) return { kind: "conflict" };
      }
      const outcome = await this.#write(async (file): Promise<AppendOutcome> => {
        let bytes = 0;
        if (first !== undefined) {
          const end = file.end();
          if ((typeof end === "number" ? end : await end) !== this.#size) {
            await this.#claim.checkLoss();
            return { kind: "conflict" };
          }
          const lines = encodeBatch(commits);
          await file.append(lines, { keepTime: commits.every(isOfLoads) });
          this.#size = file.size;
          this.#seq = commits.at(-1)!.seq;
          bytes = lines.length;
        }
        of = "sync";
        if (durability === "synced") await file.sync();
        return { kind: "committed", bytes };
      });
      if (outcome.kind === "committed") this.#record(commits, state);
      return outcome;
    } catch (cause) {
      return { kind: "unknown", of, cause };
    }
  }

  /** Appends to the journal of a new thread. The first commit is written to the start log. */
  async #start(
    creation: JournalFileCreation,
    commits: readonly Commit[],
    durability: Durability,
    state: ThreadState | undefined,
  ): Promise<AppendOutcome> {
    const first = commits[0];
    if (first === undefined) return { kind: "committed", bytes: 0 };
    const bytes = await creation.start(first, () => this.#makeForOthers());
    this.#seq = first.seq;
    const more = commits.length > 1 || durability === "synced";
    const rest = more ? await this.append(commits.slice(1), durability) : undefined;
    if (rest !== undefined && rest.kind !== "committed") return rest;
    this.#record(commits, state);
    return { kind: "committed", bytes: bytes + (rest?.bytes ?? 0) };
  }

  isHeld(): Promise<boolean> {
    return this.#claim.isHeld();
  }

  async reopen(): Promise<void> {
    await this.#claim.checkLoss();
    await this.#claim.mustHave();
    // A thread without a journal file has only its first commit, which is in the start log.
    if (this.#creation !== undefined) return;
    await this.rest();
    this.#opened(await this.#shared.openWhole(this.#path));
    this.#seq = undefined;
    this.#seenSeq = undefined;
  }

  async settle(commits: readonly Commit[], state?: ThreadState): Promise<number> {
    // A new thread's first commit is in the start log, although the commits after it may be missing.
    let there = commits.filter(({ seq }) => seq <= (this.#seq ?? 0)).length;
    // Without a journal file, there is nothing else. The next append to the start log removes a torn line.
    if (this.#creation === undefined)
      there += await this.#write((file) => this.#settle(file, commits.slice(there)));
    this.#record(commits.slice(0, there), state);
    return there;
  }

  async #settle(file: AppendFile, commits: readonly Commit[]): Promise<number> {
    const written = await settleUnknownAppend(this.#shared, this.#path, file, this.#size, commits);
    if (written === undefined) {
      await this.#claim.checkLoss();
      throw fault("storageFailed", FOREIGN_WRITE);
    }
    this.#size += written.bytes;
    if (written.commits > 0) this.#seq = commits[written.commits - 1]!.seq;
    return written.commits;
  }

  #record(commits: readonly Commit[], state: ThreadState | undefined): void {
    if (state !== undefined && commits.length > 0) this.#shared.record(commits, state, this.place);
  }

  /**
   * Creates the journal for the start log. If the thread was closed before, nobody uses it, so its file must not stay
   * open.
   */
  async #makeForOthers(): Promise<void> {
    await this.#make();
    if (!this.#claim.isGivenBack) return;
    await this.rest();
    this.#claim.giveBack();
  }

  /** Resolves when the thread has its own journal file, or is still without a commit. */
  #make(): Promise<void> | undefined {
    return this.#creation?.make((file) => this.#opened(file));
  }

  flush(): Promise<void> {
    return this.#write((file) => file.sync());
  }

  backwards(through?: Position, wanted?: WantedRecords): AsyncIterable<Placed> {
    const commits = this.#commits((reader) => reader.linesBack(through), wanted);
    return through === undefined && this.#seq === undefined ? this.#noted(commits) : commits;
  }

  /** Notes the number of the last commit, which the next append must follow. Repeated lines have lower numbers. */
  async *#noted(commits: AsyncIterable<Placed>): AsyncIterable<Placed> {
    for await (const placed of commits) {
      this.#seenSeq = Math.max(this.#seenSeq ?? 0, placed.commit.seq);
      yield placed;
    }
  }

  /** The number of the last commit; 0 if there is none. */
  async #readLastSeq(): Promise<number> {
    for await (const _ of this.backwards()) break;
    return this.#seenSeq ?? 0;
  }

  forwards(from?: Position, wanted?: WantedRecords): AsyncIterable<Placed> {
    return this.#commits((reader) => reader.linesFrom(from), wanted);
  }

  naming(text: string, from?: Position): AsyncIterable<Placed> {
    return this.#commits((reader) => reader.linesNaming(text, from));
  }

  #commits(
    lines: (reader: JournalFileReader) => AsyncGenerator<readonly Line[]>,
    wanted?: WantedRecords,
  ): AsyncIterable<Placed> {
    return commitsOf(this.#lines(lines), this.#threadId, this.place, this.#shared.reading, wanted);
  }

  async *#lines(
    lines: (reader: JournalFileReader) => AsyncGenerator<readonly Line[]>,
  ): AsyncGenerator<readonly Line[]> {
    const reader = await this.#reader();
    try {
      yield* lines(reader);
    } finally {
      await reader.close();
    }
  }

  async isEmpty(): Promise<boolean> {
    const reader = await this.#reader();
    try {
      return await reader.isEmpty();
    } finally {
      await reader.close();
    }
  }

  blob(name: string): Promise<Uint8Array | undefined> {
    return readBlob(this.#shared.files, this.#blobs, name);
  }

  keep(name: string, bytes: Uint8Array): Promise<void> {
    return guardStorage(() => keepBlob(this.#shared.files, this.#blobs[0], name, bytes));
  }

  blobs(prefix: string): Promise<readonly StoredBlob[]> {
    return guardStorage(() => listBlobs(this.#shared.files, this.#blobs[0], prefix));
  }

  removeBlob(name: string): Promise<void> {
    return guardStorage(() => this.#shared.files.remove(join(this.#blobs[0], name)));
  }

  letGo(): boolean {
    if (this.#using > 0 || this.#creation !== undefined) return false;
    void this.rest().catch((cause) => this.#shared.log.warn("closing a journal failed", { cause }));
    return true;
  }

  rest(): Promise<void> {
    const creating = this.#creation?.rest();
    return this.#file === undefined && creating === undefined ? RESTING : this.#rest(creating);
  }

  async #rest(creating: Promise<void> | undefined): Promise<void> {
    if (creating !== undefined) await creating;
    const file = this.#file;
    this.#file = undefined;
    this.#shared.openFiles.closed(this);
    await (await file)?.close();
  }

  async archive(archived: boolean, head: Head): Promise<void> {
    await this.#claim.mustHave();
    await this.#make();
    await this.rest();
    const path = (archived ? archivePath : sessionPath)(this.#shared.home, this.#threadId);
    const { files } = this.#shared;
    const [here, there] = this.#blobs;
    await guardStorage(async () => {
      await files.rename(this.#path, path);
      this.#archived = archived;
      if (await files.exists(here)) await files.rename(here, there);
    });
    this.#shared.moved(head, this.place);
  }

  async destroy(): Promise<void> {
    await this.#claim.mustHave();
    // The journal is removed last. After a crash before that, the next start finds the thread and lists it again.
    this.markNeedsRecovery();
    await this.#shared.unlist(this.#threadId);
    await this.rest();
    await this.#creation?.cancel();
    this.#creation = undefined;
    await this.#shared.settleStarts(this.#threadId);
    for (const folder of this.#blobs)
      await guardStorage(() => this.#shared.files.remove(folder, { synced: true }));
    await guardStorage(() => this.#shared.files.remove(this.#path, { synced: true }));
    this.markRecovered();
    this.#claim.giveBack();
  }

  async close(): Promise<void> {
    if (this.#claim.isGivenBack) return;
    try {
      await this.#make();
    } finally {
      await this.rest();
      this.#claim.giveBack();
    }
  }

  async #write<T>(work: (file: AppendFile) => Promise<T>): Promise<T> {
    this.#using++;
    try {
      await this.#make();
      this.#file ??= this.#shared.files.openAppend(this.#path);
      this.#shared.openFiles.used(this);
      return await work(await this.#file);
    } catch (cause) {
      // After a failure, the file is closed, and opened again at the next use.
      await this.rest().catch(() => {});
      throw cause;
    } finally {
      this.#using--;
    }
  }

  /** Opens the journal for one read, because a rarely read journal should not occupy a file descriptor. */
  async #reader(): Promise<JournalFileReader> {
    await this.#make();
    const file = await this.#shared.files.openRead(this.#path);
    if (file === undefined) throw new Error(`the journal ${this.#path} is gone`);
    const { reading } = this.#shared;
    return new JournalFileReader(
      this.#threadId,
      this.place,
      file,
      reading,
      (name) => this.blob(name),
      this.#size,
    );
  }
}

/**
 * Whether a commit contains only loads and unloads. Such a commit does not change the file's modification time, by
 * which people sort conversations.
 */
function isOfLoads({ records }: Commit): boolean {
  return records.every(({ type }) => LOADS.has(type));
}

const LOADS: ReadonlySet<ThreadRecord["type"]> = new Set(["opened", "closed", "notified", "checkpoint"]);
