import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakePlatform } from "../../../../../test/simulation/fake-platform.ts";
import { simulate } from "../../../../../test/simulation/run.ts";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { nodeFiles } from "../../platform/node-files.ts";
import { encodeCommit } from "./commit-format.ts";
import { markMade, StartLog, unmade } from "./thread-start-log.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "starts-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const MiB = 1024 * 1024;
const line = (bytes: number): Uint8Array => Buffer.from(`${"x".repeat(bytes - 1)}\n`);

/** Threads that count how often their journals are asked for, and make them when they are let. */
function threads(starts: StartLog) {
  const asked = new Map<string, number>();
  return {
    asked,
    start: (id: string, bytes: number) =>
      starts.add(id, line(bytes), async () => void asked.set(id, (asked.get(id) ?? 0) + 1)),
  };
}

describe("the file of new threads", () => {
  it("asks each thread for its journal once when it has become long, however many come before they are made", async () => {
    const starts = new StartLog(() => join(home, "starts"), nodeFiles());
    const { asked, start } = threads(starts);
    const ids = Array.from({ length: 40 }, (_, nth) => `thread-${nth}`);
    for (const id of ids) await start(id, MiB / 4);
    expect(asked).toEqual(new Map(ids.map((id) => [id, 1])));
    for (const id of ids) await starts.made(id);
    expect(await readFile(join(home, "starts"), "utf8")).toBe("");
    // And the same again.
    await start("next", MiB);
    expect(asked.has("next")).toBe(false);
    await start("last", 4 * MiB);
    expect([asked.get("next"), asked.get("last")]).toEqual([1, 1]);
    await starts.close();
  });

  it("asks again at the next start where a journal could not be made", async () => {
    const starts = new StartLog(() => join(home, "starts"), nodeFiles());
    let tries = 0;
    const failing = async () => {
      tries++;
      throw new Error("the disk is full");
    };
    await starts.add("first", line(5 * MiB), failing);
    await new Promise((resolve) => setImmediate(resolve));
    await starts.add("second", line(100), async () => {});
    expect(tries).toBe(2);
    await starts.close();
  });
});

describe("the line of a deleted thread", () => {
  const path = () => join(home, "starts");
  const text = (id: string) => Buffer.from(`${JSON.stringify({ seq: 1, text: `words of ${id}` })}\n`);

  it("is overwritten where it is, while all others stay as they are", async () => {
    const starts = new StartLog(path, nodeFiles());
    const { asked } = threads(starts);
    for (const id of ["a", "b", "c"]) await starts.add(id, text(id), async () => void asked.set(id, 1));
    const before = await readFile(path(), "utf8");
    await starts.made("b");
    await starts.erase("b");
    const after = await readFile(path(), "utf8");
    const gone = text("b").toString().trimEnd();
    expect(after).toBe(`${before.replace(gone, " ".repeat(gone.length))}{"made":"b"}\n`);
    expect(asked).toEqual(new Map());
    await starts.close();
  });

  // Whichever of them comes first.
  it.each([0, 1, 2, 3, 5, 8, 13, 21])(
    "is not looked for in a file that was emptied and filled again meanwhile (%i ticks later)",
    async (ticks) => {
      const starts = new StartLog(path, nodeFiles());
      for (const id of ["a", "b"]) await starts.add(id, text(id), async () => {});
      await starts.made("a");
      const emptied = starts.made("b");
      for (let at = 0; at < ticks; at++) await Promise.resolve();
      const erased = starts.erase("a");
      const added = starts.add("c", text("c"), async () => {});
      await Promise.all([emptied, erased, added]);
      const left = await readFile(path(), "utf8");
      expect(left.endsWith(text("c").toString())).toBe(true);
      expect(left).not.toContain("words of a");
      await starts.close();
    },
  );
});

simulate(
  "keeps the line of a new thread, whenever another is erased and the file is emptied",
  { count: 100 },
  async (world) => {
    const { files } = fakePlatform(world, { name: "host", alive: true });
    const starts = new StartLog(() => "/home/starts", files);
    for (const id of ["a", "b"]) await starts.add(id, line(100), async () => {});
    await starts.made("a");
    const made = starts.made("b");
    const erased = starts.erase("a");
    await made;
    const fresh = Buffer.from(`${"c".repeat(99)}\n`);
    const at = await starts.add("c", fresh, async () => {});
    await erased;
    const read = await starts.read(at, fresh.length);
    world.check(() => expect(Buffer.from(read).toString()).toBe(fresh.toString()));
    await starts.close();
  },
);

describe("what a host that is gone has left unmade", () => {
  const id = "01a1e11e-8538-703d-834a-e6eb57dc6a9a";
  const start = (threadId: string): string => {
    const { facts, settings, load, docs } = newThread();
    const created = {
      type: "created",
      at: 1,
      facts: { ...facts, id: threadId },
      settings,
      load,
      docs,
    } as const;
    return encodeCommit({ seq: 1, epoch: 1, prev: 0, records: [created] }).toString();
  };

  it("is found among damaged lines, and without those that name no thread", async () => {
    const path = join(home, "starts");
    await writeFile(
      path,
      `{\n\n${start("../../etc/passwd")}${start(id).replace('"docs":[]', '"docs":7')}${start(id)}junk\n`,
    );
    expect(await unmade(nodeFiles(), path)).toEqual({
      lines: new Map([[id, Uint8Array.from(Buffer.from(start(id)))]]),
      newer: false,
    });
  });

  it("is found beside what only a later program can make, and then marked as made", async () => {
    const path = join(home, "starts");
    await writeFile(path, `${start(id).replace('"created"', '"begun"')}${start(id)}`);
    const found = await unmade(nodeFiles(), path);
    expect([...found.lines.keys(), found.newer]).toEqual([id, true]);
    await markMade(nodeFiles(), path, found.lines.keys());
    expect(await unmade(nodeFiles(), path)).toEqual({ lines: new Map(), newer: true });
  });
});
