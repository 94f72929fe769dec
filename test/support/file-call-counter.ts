import type { AppendFile, Files, ReadFile } from "../../packages/host/src/platform/platform.ts";

type Call = keyof Files | "append" | "append sync" | "truncate" | "read";

/** For tests: counts the calls made to a file system. Unlike times, counts are the same on every machine. */
export class FileCounts {
  readonly #calls = new Map<Call, number>();
  bytesRead = 0;

  of(...calls: Call[]): number {
    return calls.reduce((sum, call) => sum + (this.#calls.get(call) ?? 0), 0);
  }

  get all(): number {
    return [...this.#calls.values()].reduce((sum, count) => sum + count, 0);
  }

  add(call: Call): void {
    this.#calls.set(call, (this.#calls.get(call) ?? 0) + 1);
  }

  /** Starts counting from zero. */
  reset(): void {
    this.#calls.clear();
    this.bytesRead = 0;
  }
}

/** Wraps a file system so that its calls are counted. */
export function countedFiles(files: Files, counts: FileCounts): Files {
  const counted = <A extends unknown[], R>(call: Call, run: (...args: A) => R) => {
    return (...args: A): R => {
      counts.add(call);
      return run(...args);
    };
  };
  return {
    readText: counted("readText", (path) => files.readText(path)),
    replaceText: counted("replaceText", (path, text) => files.replaceText(path, text)),
    openAppend: counted("openAppend", async (path, options) => {
      return countedAppend(await files.openAppend(path, options), counts);
    }),
    openRead: counted("openRead", async (path) => {
      const file = await files.openRead(path);
      return file && countedRead(file, counts);
    }),
    list: counted("list", (folder) => files.list(folder)),
    exists: counted("exists", (path) => files.exists(path)),
    stamps: counted("stamps", (paths) => files.stamps(paths)),
    realPath: counted("realPath", (path) => files.realPath(path)),
    within: counted("within", (isAllowed) => files.within(isAllowed)),
    rename: counted("rename", (from, to, options) => files.rename(from, to, options)),
    remove: counted("remove", (path, options) => files.remove(path, options)),
    erase: counted("erase", (path, position, length) => files.erase(path, position, length)),
    sync: counted("sync", (path) => files.sync(path)),
    claim: counted("claim", (path, text) => files.claim(path, text)),
    claimed: counted("claimed", (path) => files.claimed(path)),
  };
}

function countedAppend(file: AppendFile, counts: FileCounts): AppendFile {
  return {
    get size() {
      return file.size;
    },
    end: () => file.end(),
    append(bytes, options) {
      counts.add("append");
      return file.append(bytes, options);
    },
    sync() {
      counts.add("append sync");
      return file.sync();
    },
    truncate(size) {
      counts.add("truncate");
      return file.truncate(size);
    },
    close: () => file.close(),
  };
}

function countedRead(file: ReadFile, counts: FileCounts): ReadFile {
  return {
    size: () => file.size(),
    async read(position, length) {
      counts.add("read");
      const bytes = await file.read(position, length);
      counts.bytesRead += bytes.length;
      return bytes;
    },
    close: () => file.close(),
  };
}
