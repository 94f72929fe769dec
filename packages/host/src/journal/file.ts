import { dirname, join } from "node:path";
import type { Place } from "../core/life/views.ts";
import { fault } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import { FewAtOnce } from "../platform/few-at-once.ts";
import type { AppendFile, Files, Platform } from "../platform/platform.ts";
import { blobFolders, readBlob } from "./blobs.ts";
import { cutTornTail, FileReader, tornBytes } from "./file-reader.ts";
import { FileThreadJournal, type Shared } from "./file-thread-journal.ts";
import type { Journal } from "./journal.ts";
import { Leases, type MakeStarted } from "./leases.ts";
import { LeftOut } from "./left-out.ts";
import { MadeThreads } from "./made-threads.ts";
import { OpenFiles } from "./open-files.ts";
import { archivePath, sessionPath, threadIdOf } from "./paths.ts";
import { saved } from "./saved.ts";
import { StartKeys } from "./start-keys.ts";

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
  const made = new MadeThreads();
  const shared: Shared = {
    home,
    files,
    leases,
    openFiles: new OpenFiles(MAX_OPEN),
    starts: leases.starts,
    settleStarts: (threadId) => leases.settleStarts(threadId, makeStarted),
    making: new FewAtOnce(MAX_MAKING),
    made,
    log,
    reading: {
      leftOut: new LeftOut(log),
      pause: () => new Promise((go) => platform.timers.soon(go)),
    },
  };

  const look = async (threadId: string): Promise<Place | undefined> => {
    const active = sessionPath(home, threadId);
    if (await files.exists(active)) return { path: active, archived: false };
    const archived = archivePath(home, threadId);
    return (await files.exists(archived)) ? { path: archived, archived: true } : undefined;
  };

  const makeStarted: MakeStarted = async (threadId, line) => {
    const path = (await look(threadId))?.path ?? sessionPath(home, threadId);
    const file = await files.openAppend(path).catch((cause: unknown) => {
      // Other threads do not wait for what is no file.
      if (!isNoFile(cause)) throw cause;
      log.warn("a new thread has no journal: there is no file in its place", { path, cause });
    });
    if (file === undefined) return;
    try {
      // It may be there without a whole line in it. If it has one, a living host may be writing the next.
      if ((await tornBytes(files, file, path)) === file.size) {
        await cutTornTail(files, file, path, log);
        await file.append(line);
      }
      await file.sync();
    } finally {
      await file.close();
    }
  };

  /** Makes the journals that hosts which are gone did not get to make. */
  const takeUp = () => leases.takeUp(makeStarted);

  const find = async (threadId: string): Promise<Place | undefined> => {
    // First: a file that is just being made must not be taken for one that a dead host left empty.
    await shared.starts.make(threadId);
    const place = await look(threadId);
    if (place !== undefined) return place;
    await takeUp();
    return look(threadId);
  };

  const readerAt = async (threadId: string, place: Place): Promise<FileReader | undefined> => {
    const file = await files.openRead(place.path!).catch(asDamage);
    const folders = blobFolders(home, threadId, place.archived);
    const blob = (name: string) => readBlob(files, folders, name);
    return file && new FileReader(threadId, place, file, shared.reading, blob);
  };

  const read = async (threadId: string): Promise<FileReader | undefined> => {
    const place = await find(threadId);
    const reader = place && (await readerAt(threadId, place));
    if (reader !== undefined && !(await orClosed(reader, reader.isEmpty()))) return reader;
    await reader?.close();
    if (place === undefined) return undefined;
    // It was moved to or from the archive meanwhile, or a host died while it made the file. A living host that makes it
    // has told nobody but its own clients of the thread.
    await takeUp();
    const now = await look(threadId);
    return now && readerAt(threadId, now);
  };

  /** For writing. A host that died while it made the file left it empty, and what goes into it among its starts. */
  const openWhole = async (path: string): Promise<AppendFile> => {
    const file = await files.openAppend(path).catch(asDamage);
    if (file.size > 0 && (await orClosed(file, tornBytes(files, file, path))) === 0) return file;
    await file.close();
    await takeUp();
    // Not while someone makes it of its first line: what is half written then is not torn.
    return leases.exclusively(async () => {
      const whole = await files.openAppend(path);
      await orClosed(whole, cutTornTail(files, whole, path, log));
      return whole;
    });
  };

  const keys = new StartKeys(home, files, leases, async (threadId) => (await find(threadId)) !== undefined);

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
            return new FileThreadJournal(threadId, place, await openWhole(place.path!), shared);
          }
        } catch (cause) {
          leases.giveBack(threadId);
          throw cause;
        }
        leases.giveBack(threadId);
        return undefined;
      });
    },
    read,
    sync(threadId) {
      return saved(async () => {
        // Not the half of a first line that a dead host left: what that was made of would stay unsynced.
        const reader = await read(threadId);
        if (reader === undefined) return;
        await reader.close();
        const { place } = reader;
        // The names of its folders may be as new as its own.
        for (let path = place.path!; path !== home && path !== dirname(path); path = dirname(path))
          await files.sync(path);
      });
    },
    reserve: (key, threadId) => saved(() => keys.reserve(key, threadId)),
    release: (key) => saved(() => keys.forget(key)),
    threads,
    madeAll: () => made.isAll(threads()),
    get hostId() {
      return leases.hostId;
    },
    holder: (threadId) => leases.holders.of(threadId).catch(() => undefined),
    holders: (threadIds) => leases.holders.ofAll(threadIds).catch(() => new Map()),
    async abandoned() {
      await takeUp();
      return leases.abandoned();
    },
    async disown(threadId) {
      await leases.take(threadId);
      leases.madeGood(threadId);
      leases.giveBack(threadId);
    },
    lostPower: () => leases.power.lost(),
    async madeGood() {
      // No claim tells the next start of what is not on disk by then.
      await beforeGivingBack();
      await leases.power.madeGood();
    },
    leave: () => leases.leave(),
    close: () => {
      shared.openFiles.close();
      return leases.close();
    },
  };
}

/** What stands in a journal's place is a pipe, a device, a folder or the like. */
function isNoFile(cause: unknown): boolean {
  const { code } = cause as { readonly code?: unknown };
  return code === "ENOTFILE" || code === "EISDIR" || code === "ENXIO" || code === "ELOOP";
}

function asDamage(cause: unknown): never {
  throw isNoFile(cause) ? fault("journalDamaged", "there is no file in its place") : cause;
}

/** A file that nothing can be done with does not stay open. */
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
