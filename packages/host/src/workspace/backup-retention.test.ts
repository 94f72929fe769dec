import { describe, expect, it } from "vitest";
import { BackupRetention, packName } from "./backup-retention.ts";

const DAY = 24 * 60 * 60_000;
const NOW = 1_794_778_237_000;
const MIB = 1024 * 1024;

/** The id of a turn that began at a time. */
const turnAt = (at: number): string => {
  const hex = at.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

function thread(sizes: ReadonlyMap<string, number>) {
  const left = new Map(sizes);
  const backups = {
    blobs: async (prefix: string) =>
      [...left, ["picture.png", 1] as const, ["before-", 1] as const]
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, bytes]) => ({ name, bytes })),
    removeBlob: async (name: string) => void left.delete(name),
  };
  const packs = new BackupRetention(() => NOW);
  return { left, saved: (bytes: number) => packs.saved("a thread", backups, bytes) };
}

describe("what is saved of files that patches changed", () => {
  it("[UNDO-4] goes when it is older than thirty days", async () => {
    const [old, fresh] = [packName(turnAt(NOW - 31 * DAY), "a"), packName(turnAt(NOW - DAY), "b")];
    const { left, saved } = thread(
      new Map([
        [old, 1],
        [fresh, 1],
      ]),
    );
    await saved(1);
    expect([...left.keys()]).toEqual([fresh]);
  });

  it("[UNDO-4] goes when there is too much of it, the oldest first", async () => {
    const names = [5, 4, 3, 2, 1].map((days) => packName(turnAt(NOW - days * DAY), "x"));
    const { left, saved } = thread(new Map(names.map((name) => [name, 100 * MIB])));
    await saved(1);
    expect([...left.keys()]).toEqual(names.slice(3));
  });

  it("is looked at again only after much was saved", async () => {
    const { left, saved } = thread(new Map());
    await saved(1);
    left.set(packName(turnAt(NOW - 31 * DAY), "a"), 1);
    await saved(MIB);
    expect(left.size).toBe(1);
    await saved(16 * MIB);
    expect(left.size).toBe(0);
  });
});
