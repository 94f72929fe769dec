import { expect, it } from "vitest";
import type { Commit } from "../../core/records.ts";
import type { AppendFile } from "../../platform/platform.ts";
import { encodeCommit } from "./commit-format.ts";
import { writeDraft } from "./journal-draft.ts";

const named = (seq: number, name: string): Commit => ({
  seq,
  epoch: 1,
  prev: seq - 1,
  records: [{ type: "renamed", at: seq, name }],
});

/** A disk that notes what is done to it, and is full after some bytes. */
function disk(room = Infinity) {
  const done: string[] = [];
  const appends: Buffer[] = [];
  const size = () => appends.reduce((sum, { length }) => sum + length, 0);
  const file: AppendFile = {
    size: 0,
    end: size,
    append: async (bytes) => {
      if (size() + bytes.length > room) throw new Error("the disk is full");
      done.push("append");
      appends.push(Buffer.from(bytes));
      return size() - bytes.length;
    },
    sync: async () => void done.push("sync"),
    truncate: async () => {},
    close: async () => void done.push("close"),
  };
  const files = {
    remove: async (path: string) => void done.push(`remove ${path}`),
    openAppend: async (path: string, options?: { readonly fresh?: boolean }) => {
      done.push(`open ${path} ${options?.fresh === true ? "fresh" : "again"}`);
      return file;
    },
  };
  return { done, appends, files };
}

async function* commits(...all: readonly Commit[]) {
  yield* all;
}

it("has all of a thread on the disk before the thread is in its place", async () => {
  const { done, appends, files } = disk();
  const place = async () => void done.push("place");
  const all = commits(named(1, "one"), named(2, "two"));
  expect(await writeDraft(files, "draft", all, { isWanted: () => true, place })).toBe(true);
  expect(done).toEqual(["remove draft", "open draft fresh", "append", "sync", "close", "place"]);
  expect(appends[0]?.toString().trimEnd().split("\n")).toHaveLength(2);
});

it("holds no more than a batch of it in memory", async () => {
  const { appends, files } = disk();
  const long = "x".repeat(100_000);
  const all = commits(...Array.from({ length: 7 }, (_, at) => named(at + 1, long)));
  await writeDraft(files, "draft", all, { isWanted: () => true, place: async () => {} });
  expect(appends.map(({ length }) => Math.floor(length / 100_000))).toEqual([3, 3, 1]);
});

it("leaves nothing of a thread that is not wanted after all, or that the disk has no room for", async () => {
  const unwanted = disk();
  const place = async () => void unwanted.done.push("place");
  const wanted = { isWanted: () => false, place };
  expect(await writeDraft(unwanted.files, "draft", commits(named(1, "one")), wanted)).toBe(false);
  expect(unwanted.done.slice(2)).toEqual(["append", "close", "remove draft"]);
  const full = disk(10);
  const all = commits(named(1, "one"));
  await expect(writeDraft(full.files, "draft", all, { isWanted: () => true, place })).rejects.toThrow("full");
  expect(full.done.slice(2)).toEqual(["close", "remove draft"]);
});

it("writes nothing for no commits, and a batch as soon as it has 256 KiB", async () => {
  const wanted = { isWanted: () => true, place: async () => {} };
  const none = disk();
  expect(await writeDraft(none.files, "draft", commits(), wanted)).toBe(true);
  expect(none.done).toEqual(["remove draft", "open draft fresh", "sync", "close"]);
  const overhead = encodeCommit(named(1, "")).length;
  const sized = (seq: number, bytes: number): Commit => named(seq, "x".repeat(bytes - overhead));
  for (const [first, sizes] of [
    [128 * 1024, [256 * 1024, 100]],
    [128 * 1024 - 1, [256 * 1024 + 99]],
  ] as const) {
    const { appends, files } = disk();
    await writeDraft(files, "draft", commits(sized(1, first), sized(2, 128 * 1024), sized(3, 100)), wanted);
    expect(appends.map(({ length }) => length)).toEqual(sizes);
  }
});

it("removes the draft if the thread cannot be put in its place, and passes that failure on", async () => {
  for (const removes of [true, false]) {
    const { done, files } = disk();
    let opened = false;
    const failing = {
      openAppend: (path: string, options?: { readonly fresh?: boolean }) => {
        opened = true;
        return files.openAppend(path, options);
      },
      remove: async (path: string) => {
        await files.remove(path);
        if (opened && !removes) throw new Error("cannot remove");
      },
    };
    const place = async (): Promise<void> => {
      throw new Error("cannot rename");
    };
    const written = writeDraft(failing, "draft", commits(named(1, "one")), { isWanted: () => true, place });
    await expect(written).rejects.toThrow("cannot rename");
    expect(done.at(-1)).toBe("remove draft");
  }
});
