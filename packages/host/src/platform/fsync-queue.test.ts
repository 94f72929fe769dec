import { describe, expect, it } from "vitest";
import { FsyncQueue } from "./fsync-queue.ts";
import type { FileCalls } from "./node-append-file.ts";

type Answer = (cause: Error | null) => void;

/** A fake disk whose fsyncs the test completes. Each folder has its own number as its descriptor. */
class SlowDisk {
  /** The fsyncs under way, in the order in which they started. */
  readonly running: { readonly what: string; readonly answer: Answer }[] = [];
  readonly begun: string[] = [];
  #opened: string[] = [];

  get calls(): FileCalls {
    const begin = (what: string, answer: Answer): void => {
      this.begun.push(what);
      this.running.push({ what, answer });
    };
    return {
      open: (path: string, _flags: string, answer: (cause: null, fd: number) => void) =>
        answer(null, this.#opened.push(path) + 1000),
      close: (_fd: number, answer: Answer) => answer(null),
      fdatasync: (fd: number, answer: Answer) => begin(`file ${fd}`, answer),
      fsync: (fd: number, answer: Answer) => begin(this.#opened[fd - 1001]!, answer),
    } as unknown as FileCalls;
  }

  /** Completes the fsync that started first. */
  async end(cause: Error | null = null): Promise<void> {
    this.running.shift()!.answer(cause);
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let left = 20; left > 0; left--) await Promise.resolve();
}

describe("syncs", () => {
  it("[LOAD-11] are few at once, in the order in which they were asked for", async () => {
    const disk = new SlowDisk();
    const syncs = new FsyncQueue(disk.calls);
    const all = Promise.all(Array.from({ length: 100 }, (_, fd) => syncs.file(fd)));
    let most = 0;
    while (disk.begun.length < 100) {
      most = Math.max(most, disk.running.length);
      await disk.end();
    }
    while (disk.running.length > 0) await disk.end();
    await all;
    expect(most).toBe(3);
    expect(disk.begun).toEqual(Array.from({ length: 100 }, (_, fd) => `file ${fd}`));
  });

  it("[LOAD-11] of one folder are shared by all who ask before they begin, and by nobody else", async () => {
    const disk = new SlowDisk();
    const syncs = new FsyncQueue(disk.calls);
    const files = [1, 2].map((fd) => syncs.file(fd));
    const early = syncs.folder("/a");
    await settled();
    expect(disk.begun).toEqual(["file 1", "file 2", "/a"]);
    // The new entry may be missing in the fsync that has already started.
    let synced = 0;
    const late = Array.from({ length: 50 }, () => syncs.folder("/a").then(() => synced++));
    const other = syncs.folder("/b");
    await disk.end();
    await disk.end();
    await disk.end();
    await early;
    expect(disk.begun).toEqual(["file 1", "file 2", "/a", "/a", "/b"]);
    expect(synced).toBe(0);
    await disk.end();
    await disk.end();
    await Promise.all([...files, ...late, other]);
    expect(synced).toBe(50);
  });

  it("that fail reject all callers that wait for them, and do not block later ones", async () => {
    const disk = new SlowDisk();
    const syncs = new FsyncQueue(disk.calls);
    const failing = [1, 2, 3].map((fd) => syncs.file(fd).catch((cause: Error) => cause.message));
    const folders = [syncs.folder("/a"), syncs.folder("/a")].map((sync) =>
      sync.catch((cause: Error) => cause.message),
    );
    for (let left = 4; left > 0; left--) await disk.end(new Error("EIO"));
    expect(await Promise.all([...failing, ...folders])).toEqual(["EIO", "EIO", "EIO", "EIO", "EIO"]);
    const next = syncs.folder("/a");
    await settled();
    await disk.end();
    await next;
  });
});
