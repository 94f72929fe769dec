import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFiles } from "../platform/node-files.ts";
import { Starts } from "./starts.ts";

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
function threads(starts: Starts) {
  const asked = new Map<string, number>();
  return {
    asked,
    start: (id: string, bytes: number) =>
      starts.add(id, line(bytes), async () => void asked.set(id, (asked.get(id) ?? 0) + 1)),
  };
}

describe("the file of new threads", () => {
  it("asks each thread for its journal once when it has become long, however many come before they are made", async () => {
    const starts = new Starts(() => join(home, "starts"), nodeFiles());
    const { asked, start } = threads(starts);
    const ids = Array.from({ length: 40 }, (_, nth) => `thread-${nth}`);
    for (const id of ids) await start(id, MiB / 4);
    expect(asked).toEqual(new Map(ids.map((id) => [id, 1])));
    for (const id of ids) await starts.made(id);
    expect(await readFile(join(home, "starts"), "utf8")).toBe("");
    // And the same again.
    await start("next", MiB);
    expect(asked.has("next")).toBe(false);
    await starts.close();
  });

  it("asks again at the next start where a journal could not be made", async () => {
    const starts = new Starts(() => join(home, "starts"), nodeFiles());
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
