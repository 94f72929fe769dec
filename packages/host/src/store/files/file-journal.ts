import { basename, dirname, join, resolve } from "node:path";
import type { JournalLocation } from "../../core/life/thread-view.ts";
import { fault } from "../../errors.ts";
import type { Log } from "../../observe/log.ts";
import { FewAtOnce } from "../../platform/concurrency-limit.ts";
import type { AppendFile, Files, Platform } from "../../platform/platform.ts";
import type { Claims } from "../claims.ts";
import { PassingCommits, recordCommits, rowOf } from "../index-updates.ts";
import type { Journal } from "../journal.ts";
import type { StartIdempotencyKeys } from "../start-idempotency-keys.ts";
import { guardStorage } from "../storage-fault.ts";
import type { ThreadIndex } from "../thread-index.ts";
import { blobFolders, readBlob } from "./blob-files.ts";
import { ClaimFiles, type MakeStarted } from "./claim-files.ts";
import { CreatedThreads } from "./created-threads.ts";
import { DamageReport } from "./damage-report.ts";
import { FileThreadJournal } from "./file-thread-journal.ts";
import { writeDraft } from "./journal-draft.ts";
import { cutTornTail, JournalFileReader, tornBytes } from "./journal-file-reader.ts";
import { archivePath, sessionPath, threadIdOf } from "./journal-paths.ts";
import { OpenFileLimit } from "./open-file-limit.ts";
import type { SharedJournalParts } from "./shared-journal-parts.ts";
import { StartIdempotencyKeyFiles } from "./start-idempotency-key-files.ts";

/** Limit on journals that are open for writing. A process may have about 1,000 open files, including sockets. */
const MAX_OPEN = 256;

/** Limit on the journals that are created at a time, in the background, for threads that are in the start log. */
const MAX_MAKING = 16;

/** The parts of the store that are files of threads: journals, claims, and idempotency keys of starts. */
export interface FileJournal extends Journal, Claims, StartIdempotencyKeys {
  /** Whether this host created every stored thread. Only the first call may return true. */
  madeAll(): Promise<boolean>;
  /** Runs `work` under a lock across all hosts of the home. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The part of the index that journals update. */
type JournalIndex = Pick<ThreadIndex, "record" | "forget" | "flush">;

const NO_INDEX: JournalIndex = { record() {}, async forget() {}, async flush() {} };

/** Journals as JSON lines in the home. `index` is called when there is something to index. */
export function fileJournal(
  home: string,
  platform: Platform,
  log: Log,
  index: () => JournalIndex = () => NO_INDEX,
): FileJournal {
  const { files } = platform;
  // The index must contain everything of a thread before its claim is removed: after a crash, the next host checks
  // only claimed threads.
  const flushIndex = (): Promise<void> => index().flush();
  const claims = new ClaimFiles(home, platform, flushIndex);
  const made = new CreatedThreads();
  const listeners: ((threadId: string) => void)[] = [];
  const shared: SharedJournalParts = {
    home,
    files,
    claims,
    openFiles: new OpenFileLimit(MAX_OPEN),
    starts: claims.starts,
    settleStarts: (threadId) => claims.settleStarts(threadId, makeStarted),
    making: new FewAtOnce(MAX_MAKING),
    openWhole: (path) => openWhole(path),
    made,
    lost: (threadId) => {
      for (const listener of listeners) listener(threadId);
    },
    log,
    record: (commits, state, place) => recordCommits(index(), commits, state, place),
    moved: ({ state, seq }, place) => index().record(rowOf(state, seq, place), []),
    unlist: (threadId) => index().forget(threadId),
    reading: {
      leftOut: new DamageReport(log),
      pause: () => new Promise((go) => platform.timers.soon(go)),
    },
  };

  const look = async (threadId: string): Promise<JournalLocation | undefined> => {
    const active = sessionPath(home, threadId);
    if (await files.exists(active)) return { path: active, archived: false };
    const archived = archivePath(home, threadId);
    return (await files.exists(archived)) ? { path: archived, archived: true } : undefined;
  };

  const makeStarted: MakeStarted = async (threadId, line) => {
    const path = (await look(threadId))?.path ?? sessionPath(home, threadId);
    const file = await files.openAppend(path).catch((cause: unknown) => {
      // A path that is no regular file must not make other threads fail.
      if (!isNoFile(cause)) throw cause;
      log.warn("a new thread has no journal: its path is not a regular file", { path, cause });
    });
    if (file === undefined) return;
    try {
      // The file may exist without a complete line. If it has a complete one, a living host may be writing the next
      // line.
      if ((await tornBytes(files, file, path)) === file.size) {
        await cutTornTail(files, file, path, log);
        await file.append(line);
      }
      await file.sync();
    } finally {
      await file.close();
    }
  };

  /** Creates the journals of threads that dead hosts acknowledged and did not create. */
  const takeUp = () => claims.takeUp(makeStarted);

  const find = async (threadId: string): Promise<JournalLocation | undefined> => {
    // If the thread is only in this host's start log, its journal is created first. Otherwise a file that is just being
    // created could be taken for an empty one of a dead host.
    await shared.starts.make(threadId);
    const place = await look(threadId);
    if (place !== undefined) return place;
    await takeUp();
    return look(threadId);
  };

  const readerAt = async (
    threadId: string,
    place: JournalLocation,
  ): Promise<JournalFileReader | undefined> => {
    const file = await files.openRead(place.path!).catch(asDamage);
    const folders = blobFolders(home, threadId, place.archived);
    const blob = (name: string) => readBlob(files, folders, name);
    return file && new JournalFileReader(threadId, place, file, shared.reading, blob);
  };

  const read = async (threadId: string): Promise<JournalFileReader | undefined> => {
    const place = await find(threadId);
    const reader = place && (await readerAt(threadId, place));
    if (reader !== undefined && !(await orClosed(reader, reader.isEmpty()))) return reader;
    await reader?.close();
    if (place === undefined) return undefined;
    // The journal was archived or unarchived in between, or a host died while it created the file. A living host that
    // is creating the file has returned the thread only to its own clients.
    await takeUp();
    const now = await look(threadId);
    return now && readerAt(threadId, now);
  };

  /**
   * Opens a journal for writing. If its host died while it wrote the first line, that line is restored from the host's
   * start log. Any other incomplete last line is cut off.
   */
  const openWhole = async (path: string): Promise<AppendFile> => {
    const file = await files.openAppend(path).catch(asDamage);
    if (file.size > 0 && (await orClosed(file, tornBytes(files, file, path))) === 0) return file;
    await file.close();
    await takeUp();
    // Serialized with the creation from a start log, so that a line that is being written is not taken for a torn
    // one.
    return claims.exclusively(async () => {
      const whole = await files.openAppend(path);
      await orClosed(whole, cutTornTail(files, whole, path, log));
      return whole;
    });
  };

  /** Folders whose directory entry is fsynced, so that their name survives a power cut. */
  const named = new Set<string>();
  /** Fsyncs the directory entries of a journal and of its folders. */
  const syncNames = async (path: string): Promise<void> => {
    const folder = dirname(path);
    await files.sync(folder);
    for (let at = folder; !named.has(at) && at !== home && at !== dirname(at); at = dirname(at)) {
      await files.sync(dirname(at));
      named.add(at);
    }
  };

  const keys = new StartIdempotencyKeyFiles(
    home,
    files,
    claims,
    async (threadId) => (await find(threadId)) !== undefined,
  );

  async function* threads(): AsyncIterable<{ readonly id: string; readonly archived: boolean }> {
    for await (const name of walk(files, join(home, "sessions"), 3)) {
      const id = threadIdOf(name);
      if (id !== undefined) yield { id, archived: false };
    }
    for await (const name of walk(files, join(home, "archived_sessions"), 0)) {
      const id = threadIdOf(name);
      if (id !== undefined) yield { id, archived: true };
    }
  }

  return {
    create(threadId) {
      return guardStorage(async () => {
        await claims.announce();
        const place = { path: sessionPath(home, threadId), archived: false };
        return new FileThreadJournal(threadId, place, undefined, shared);
      });
    },
    bring(threadId, commits, { archived, state }) {
      return guardStorage(async () => {
        await claims.mustTake(threadId);
        try {
          if ((await look(threadId)) !== undefined) return undefined;
          const path = archived ? archivePath(home, threadId) : sessionPath(home, threadId);
          const draft = join(home, "incoming", `${threadId}.jsonl`);
          const place = async (): Promise<void> => {
            await files.rename(draft, path, { unsynced: true });
            await syncNames(path);
          };
          const passing = new PassingCommits();
          const isWanted = (): boolean => state() !== undefined;
          if (!(await writeDraft(files, draft, passing.of(commits), { isWanted, place }))) return undefined;
          made.add(threadId);
          const at = { path, archived };
          // The claim is still held. After a crash at this point, the next start finds the thread by its claim, and
          // indexes it.
          passing.record(index(), state()!, at);
          return at;
        } finally {
          claims.giveBack(threadId);
        }
      });
    },
    has: async (threadId) => (await look(threadId)) !== undefined,
    open(threadId) {
      return guardStorage(async () => {
        if ((await find(threadId)) === undefined) return undefined;
        const by = await claims.take(threadId);
        if (by !== undefined) return { kind: "held", by };
        try {
          // The host that had the thread may have archived it before it released the claim.
          const place = await find(threadId);
          if (place !== undefined) {
            const file = await openWhole(place.path!);
            return { kind: "mine", journal: new FileThreadJournal(threadId, place, file, shared) };
          }
        } catch (cause) {
          claims.giveBack(threadId);
          throw cause;
        }
        claims.giveBack(threadId);
        return undefined;
      });
    },
    read,
    flush(threadId) {
      return guardStorage(async () => {
        // The journal is read first, because an incomplete first line of a dead host must be replaced before the
        // fsync.
        const reader = await read(threadId);
        if (reader === undefined) return;
        await reader.close();
        const { place } = reader;
        // The directory entries of the folders may be as new as that of the journal.
        for (let path = place.path!; path !== home && path !== dirname(path); path = dirname(path))
          await files.sync(path);
      });
    },
    reserve: (key, threadId) => guardStorage(() => keys.reserve(key, threadId)),
    release: (key) => guardStorage(() => keys.forget(key)),
    threads,
    madeAll: () => made.isAll(threads()),
    get hostId() {
      return claims.hostId;
    },
    holder: (threadId) => claims.holders.of(threadId).catch(() => undefined),
    starting: (threadId) => claims.starting(threadId).catch(() => undefined),
    holders: (threadIds) => claims.holders.ofAll(threadIds).catch(() => new Map()),
    async abandoned() {
      await takeUp();
      return claims.abandoned();
    },
    held: () => claims.all(),
    async disown(threadId) {
      await claims.mustTake(threadId);
      claims.markRecovered(threadId);
      claims.giveBack(threadId);
    },
    onLost: (listener) => void listeners.push(listener),
    needsFullRecovery: () => claims.power.lost(),
    async markFullyRecovered() {
      // Index rows must be on disk first, because the next start finds no claim for these threads.
      await flushIndex();
      await claims.power.markRecovered();
    },
    leave: () => claims.leave(),
    exclusively: (work) => claims.exclusively(work),
    resolvePath(path) {
      const absolute = resolve(home, path);
      return { path: absolute, threadId: threadIdOf(basename(absolute)) };
    },
    close: () => {
      shared.openFiles.close();
      return claims.close();
    },
  };
}

/** Whether a path is a pipe, a device, a folder or another file that is not regular. */
function isNoFile(cause: unknown): boolean {
  const { code } = cause as { readonly code?: unknown };
  return code === "ENOTFILE" || code === "EISDIR" || code === "ENXIO" || code === "ELOOP";
}

function asDamage(cause: unknown): never {
  throw isNoFile(cause) ? fault("journalDamaged", "its path is not a regular file") : cause;
}

/** Closes the file if the work fails. */
function orClosed<T>(file: { close(): Promise<void> }, work: Promise<T>): Promise<T> {
  return work.catch(async (cause: unknown) => {
    await file.close();
    throw cause;
  });
}

async function* walk(files: Files, folder: string, depth: number): AsyncIterable<string> {
  for (const entry of await files.list(folder)) {
    if (!entry.folder) yield entry.name;
    else if (depth > 0) yield* walk(files, join(folder, entry.name), depth - 1);
  }
}
