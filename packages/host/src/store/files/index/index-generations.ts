import { basename, dirname, join } from "node:path";
import type { Log } from "../../../observe/log.ts";
import type { Files } from "../../../platform/platform.ts";
import { IndexFile, isBroken, isBusy } from "./index-file.ts";
import { SCHEMA_VERSION } from "./schema.ts";

/**
 * An open index file and its number (generation). A broken file is never moved or replaced: another host may have it
 * open, and would delete the log of the new file when it closes. Instead, a file with the next number is created. The
 * broken file is kept for inspection until the next one breaks.
 */
export interface OpenIndexFile {
  readonly store: IndexFile;
  readonly path: string;
  readonly generation: number;
  /** Whether the file was just created and is empty. */
  readonly isNew: boolean;
  /** Why the index is in memory; undefined if it is a file. */
  readonly inMemoryBecause?: unknown;
}

interface IndexLocation {
  readonly path: string;
  readonly files: Files;
  readonly log: Log;
}

const IN_MEMORY = ":memory:";
const MAX_BROKEN = 8;
const BUSY_TRIES = 200;

/**
 * Opens the newest file, or creates one. Throws if that fails. Files with a number below `least` were abandoned.
 * `behind`: the file may lack rows, so it is marked as incomplete first.
 */
export async function openNewest(
  place: IndexLocation,
  { least, behind }: { readonly least: number; readonly behind: boolean },
  pause: () => Promise<void>,
): Promise<OpenIndexFile> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  let generation = Math.max(least, ...(await numbersOf(place)).map(({ number }) => number));
  let broken = 0;
  let isNew = false;
  for (let tries = 1; ; tries++) {
    const path = pathOf(place.path, generation);
    try {
      isNew = (await make(place.files, path)) || isNew;
      const store = new IndexFile(DatabaseSync, path);
      if (behind) orClosed(store, () => store.restart());
      return { store, path, generation, isNew };
    } catch (cause) {
      if (isBusy(cause) && tries < BUSY_TRIES) {
        await pause();
      } else if (isBroken(cause) && broken++ < MAX_BROKEN) {
        place.log.warn("the index file is broken; a new one is made from the journals", { path, cause });
        generation++;
      } else {
        throw cause;
      }
    }
  }
}

/** Opens an index in memory. `cause`: why no file can be opened. */
export async function openInMemory(generation: number, cause: unknown): Promise<OpenIndexFile> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  const store = new IndexFile(DatabaseSync, IN_MEMORY);
  return { store, path: IN_MEMORY, generation, isNew: false, inMemoryBecause: cause };
}

export async function supersededBy(place: IndexLocation, open: OpenIndexFile): Promise<boolean> {
  return open.path !== IN_MEMORY && (await place.files.exists(pathOf(place.path, open.generation + 1)));
}

/** Removes older files and files of older versions. Keeps the previous file, which is broken, unless `keep` is 0. */
export async function removeOlder(place: IndexLocation, open: OpenIndexFile, keep: 0 | 1 = 1): Promise<void> {
  if (open.path === IN_MEMORY) return;
  const folder = dirname(place.path);
  for (const { name, version, number } of await numbersOf(place, true)) {
    const old = version < SCHEMA_VERSION || (version === SCHEMA_VERSION && number < open.generation - keep);
    if (!old) continue;
    for (const tail of ["", "-wal", "-shm"]) await place.files.remove(join(folder, `${name}${tail}`));
  }
}

/**
 * Creates the folder and a file that only its owner can read; SQLite would create a readable one. Returns false if
 * the file exists.
 */
async function make(files: Files, path: string): Promise<boolean> {
  if (await files.exists(path)) return false;
  try {
    await (await files.openAppend(path, { fresh: true })).close();
    return true;
  } catch (cause) {
    // Another host has created the file in between.
    if ((cause as { code?: string }).code === "EEXIST") return false;
    throw cause;
  }
}

function orClosed(store: IndexFile, work: () => void): void {
  try {
    work();
  } catch (cause) {
    store.close(true);
    throw cause;
  }
}

function pathOf(path: string, generation: number): string {
  const number = generation === 0 ? "" : `.${generation}`;
  return join(dirname(path), `${stemOf(path)}.v${SCHEMA_VERSION}${number}.sqlite`);
}

function stemOf(path: string): string {
  return basename(path, ".sqlite");
}

async function numbersOf(place: IndexLocation, allVersions = false) {
  const stem = stemOf(place.path);
  const found: { name: string; version: number; number: number }[] = [];
  for (const { name } of await place.files.list(dirname(place.path))) {
    if (!name.startsWith(`${stem}.v`)) continue;
    const parts = /^\.v(\d+)(?:\.(\d+))?\.sqlite$/.exec(name.slice(stem.length));
    if (parts === null) continue;
    const version = Number(parts[1]);
    if (allVersions || version === SCHEMA_VERSION)
      found.push({ name, version, number: Number(parts[2] ?? 0) });
  }
  return found;
}
