import { basename, dirname, join } from "node:path";
import type { Log } from "../../observe/log.ts";
import type { Files } from "../../platform/platform.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { isBroken, isBusy, Store } from "./store.ts";

/**
 * A broken file is never moved or replaced: another host may have it open, and would, when it closes, remove
 * the log of whatever stands under the old name. A new file with the next number takes its place instead, and
 * the broken one stays for whoever wants to know, until the next one breaks.
 */
export interface OpenStore {
  readonly store: Store;
  readonly path: string;
  readonly generation: number;
  /** It was not there, and has nothing in it. */
  readonly isNew: boolean;
  /** Why no file could be opened; undefined if this is one. */
  readonly inMemoryBecause?: unknown;
}

interface Place {
  readonly path: string;
  readonly files: Files;
  readonly log: Log;
}

const IN_MEMORY = ":memory:";
const MAX_BROKEN = 8;
const BUSY_TRIES = 200;

/**
 * Opens the newest file, or makes one; throws if it cannot be opened. `least`: files before that number were given up.
 * `behind`: the file may lack what we wrote elsewhere, and is marked as such before anything else is done with it.
 */
export async function newestStore(
  place: Place,
  { least, behind }: { readonly least: number; readonly behind: boolean },
  pause: () => Promise<void>,
): Promise<OpenStore> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  let generation = Math.max(least, ...(await numbersOf(place)).map(({ number }) => number));
  let broken = 0;
  let isNew = false;
  for (let tries = 1; ; tries++) {
    const path = pathOf(place.path, generation);
    try {
      isNew = (await make(place.files, path)) || isNew;
      const store = new Store(DatabaseSync, path);
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

/** For as long as no file can be opened; `cause` says why. */
export async function storeInMemory(generation: number, cause: unknown): Promise<OpenStore> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  const store = new Store(DatabaseSync, IN_MEMORY);
  return { store, path: IN_MEMORY, generation, isNew: false, inMemoryBecause: cause };
}

export async function supersededBy(place: Place, open: OpenStore): Promise<boolean> {
  return open.path !== IN_MEMORY && (await place.files.exists(pathOf(place.path, open.generation + 1)));
}

/** Keeps the one before, which broke; removes those before it, and those of older versions. */
export async function removeOlder(place: Place, open: OpenStore, keep: 0 | 1 = 1): Promise<void> {
  if (open.path === IN_MEMORY) return;
  const folder = dirname(place.path);
  for (const { name, version, number } of await numbersOf(place, true)) {
    const old = version < SCHEMA_VERSION || (version === SCHEMA_VERSION && number < open.generation - keep);
    if (!old) continue;
    for (const tail of ["", "-wal", "-shm"]) await place.files.remove(join(folder, `${name}${tail}`));
  }
}

/** Makes the folder, and a file that only its owner can read: SQLite would do neither. False if it is there. */
async function make(files: Files, path: string): Promise<boolean> {
  if (await files.exists(path)) return false;
  try {
    await (await files.openAppend(path, { fresh: true })).close();
    return true;
  } catch (cause) {
    // Another host was quicker.
    if ((cause as { code?: string }).code === "EEXIST") return false;
    throw cause;
  }
}

function orClosed(store: Store, work: () => void): void {
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

async function numbersOf(place: Place, allVersions = false) {
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
