import { beforeEach, describe, expect, it } from "vitest";
import { MemoryFiles } from "../../../../../test/support/memory-files.ts";
import { settled } from "../../../../../test/support/memory-machine.ts";
import { BootMark } from "./boot-mark.ts";

let files: MemoryFiles;
let boot: string;
let locks: number;
beforeEach(() => {
  files = new MemoryFiles();
  boot = "boot 1";
  locks = 0;
});

const mark = (): BootMark =>
  new BootMark({
    path: "/home/live/boot.mark",
    files,
    boot: { id: async () => boot, isNow: async (id) => id === boot },
    exclusively: (work) => {
      locks++;
      return work();
    },
  });

const WRITTEN = ["create live/boot.mark", "append live/boot.mark", "fsync live/boot.mark"];

describe("the boot mark", () => {
  it("is written and synced once, under the lock, and removed at the end", async () => {
    const one = mark();
    await Promise.all([one.make(), one.make()]);
    await one.make();
    expect([files.taken(), files.text("live/boot.mark"), files.open, locks]).toEqual([
      WRITTEN,
      "boot 1",
      [],
      1,
    ]);
    expect(await one.lost()).toBe(false);
    await one.remove();
    expect(files.taken()).toEqual(["remove live/boot.mark"]);
  });

  it("of this boot is synced again by another host, with its folder", async () => {
    files.put("live/boot.mark", "boot 1");
    await mark().make();
    expect(files.taken()).toEqual(["sync live/boot.mark", "sync live"]);
  });

  it("of an earlier boot says that the machine went down, and stays until the recovery is complete", async () => {
    files.put("live/boot.mark", "boot 0");
    const one = mark();
    expect(await one.lost()).toBe(true);
    await one.make();
    await one.remove();
    expect([files.taken(), locks]).toEqual([[], 0]);
    await one.markRecovered();
    expect([files.taken(), files.text("live/boot.mark")]).toEqual([["replaceText live/boot.mark"], "boot 1"]);
    expect([await one.lost(), await mark().lost()]).toEqual([false, false]);
    await one.remove();
    expect(files.under()).toEqual([]);
  });

  it.each([
    ["missing", undefined],
    ["empty", ""],
  ])("says nothing if it is %s, and is written then", async (_, text) => {
    if (text !== undefined) files.put("live/boot.mark", text);
    const one = mark();
    expect(await one.lost()).toBe(false);
    await one.make();
    expect(files.text("live/boot.mark")).toBe("boot 1");
  });

  it("is read once for many questions", async () => {
    const one = mark();
    expect(await one.lost()).toBe(false);
    files.put("live/boot.mark", "boot 0");
    expect(await one.lost()).toBe(false);
  });

  it("is read and written again after a failure, and its file is closed", async () => {
    files.put("live/boot.mark", "boot 0");
    files.fail("readText", "boot.mark");
    const one = mark();
    await expect(one.lost()).rejects.toMatchObject({ code: "EIO" });
    await settled();
    expect(await one.lost()).toBe(true);
    await files.remove("/home/live/boot.mark");
    const two = mark();
    files.fail("fsync", "boot.mark");
    await expect(two.make()).rejects.toMatchObject({ code: "EIO" });
    expect(files.open).toEqual([]);
    await settled();
    await two.make();
    expect(files.taken().slice(-2)).toEqual(["sync live/boot.mark", "sync live"]);
  });
});
