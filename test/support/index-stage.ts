// An index of threads on a real file, with timers and a clock that the test moves.
import { join } from "node:path";
import { vi } from "vitest";
import { nodeFiles } from "../../packages/host/src/platform/node-files.ts";
import type { Timers } from "../../packages/host/src/platform/platform.ts";
import { IndexFile } from "../../packages/host/src/store/files/index/index-file.ts";
import type { Entry } from "../../packages/host/src/store/files/index/index-writes.ts";
import {
  openThreadIndex,
  type ThreadIndexOptions,
} from "../../packages/host/src/store/files/index/sqlite-index.ts";
import type { ThreadIndex } from "../../packages/host/src/store/thread-index.ts";
import { freshFolder } from "./folder.ts";
import { sampleQuery, sampleRow } from "./sample-rows.ts";

/** The delay after which the index tries again while another process writes. */
const BUSY_MS = 25;

interface Said {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: object | undefined;
}

export async function indexStage(more: Partial<ThreadIndexOptions> = {}) {
  const home = await freshFolder("index");
  /** The pauses while the file was locked. They end at once. */
  const pauses: number[] = [];
  /** The delays of the other timers that wait. They fire when the test says so. */
  const waiting: { readonly ms: number; readonly run: () => void }[] = [];
  /** What the index has done: a test adds its own lines. */
  const events: string[] = [];
  const said: Said[] = [];
  /** The threads that the journals have. */
  const journals: Entry[] = [];
  let rebuilds = 0;
  const timers: Timers = {
    after(ms, run) {
      if (ms === BUSY_MS) {
        pauses.push(ms);
        setImmediate(run);
        return () => {};
      }
      const timer = { ms, run };
      waiting.push(timer);
      return () => void (waiting.includes(timer) && waiting.splice(waiting.indexOf(timer), 1));
    },
    soon(run) {
      events.push("soon");
      setImmediate(run);
    },
  };
  const say = (level: Said["level"]) => (message: string, fields?: object) =>
    void said.push({ level, message, fields });
  const options: ThreadIndexOptions = {
    path: join(home, "threads.sqlite"),
    files: nodeFiles(),
    clock: { now: () => 0, monotonic: () => 0 },
    timers,
    log: {
      debug: say("debug"),
      info: say("info"),
      warn: say("warn"),
      error: say("error"),
    },
    async *rebuild() {
      rebuilds++;
      yield* journals;
    },
    ...more,
  };
  const index = openThreadIndex(options);
  return {
    home,
    index,
    pauses,
    events,
    said,
    journals,
    rebuilds: () => rebuilds,
    delays: () => waiting.map(({ ms }) => ms),
    /** Fires the timer that has waited longest. */
    fire: () => waiting.shift()!.run(),
    warnings: () => said.filter(({ level }) => level === "warn").map(({ message }) => message),
    /** Adds threads to the journals, without texts. */
    addThreads: (...ids: readonly string[]) => {
      for (const id of ids) journals.push({ row: sampleRow(id), texts: [] });
    },
  };
}

/** An error as the driver of SQLite throws it. */
export function sqliteError(message: string): Error {
  return Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR" });
}

/** Makes a method of the index file throw: so many times, or always. The test restores it. */
export function failing(method: "list" | "write" | "finish" | "known", cause: Error, times = Infinity) {
  const real = IndexFile.prototype[method] as (...args: unknown[]) => unknown;
  let left = times;
  return vi.spyOn(IndexFile.prototype, method).mockImplementation(function (
    this: IndexFile,
    ...args: unknown[]
  ) {
    if (left-- > 0) throw cause;
    return real.apply(this, args) as never;
  });
}

/** The ids of the threads that the index lists, newest first. */
export async function listedIds(index: ThreadIndex): Promise<readonly string[]> {
  return (await index.list(sampleQuery())).rows.map(({ id }) => id);
}
