import { describe, expect, it } from "vitest";
import { packName, SavedPacks } from "./saved-packs.ts";

const DAY = 24 * 60 * 60_000;
const NOW = 1_794_778_237_000;
const MIB = 1024 * 1024;

/** The name of a turn that began then. */
const turnAt = (at: number): string => {
  const hex = at.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

function folder(sizes: ReadonlyMap<string, number>) {
  const left = new Map(sizes);
  const files = {
    list: async () => [...left.keys(), "picture.png", "git-0"].map((name) => ({ name, folder: false })),
    openRead: async (path: string) => ({
      size: async () => left.get(path.replace("/t/", "")) ?? 0,
      read: async () => new Uint8Array(),
      close: async () => {},
    }),
    remove: async (path: string) => {
      left.delete(path.replace("/t/", ""));
    },
  };
  return { left, packs: new SavedPacks(files, () => NOW) };
}

describe("what is saved of files that patches changed", () => {
  it("[UNDO-4] goes when it is older than thirty days", async () => {
    const [old, fresh] = [packName(turnAt(NOW - 31 * DAY), "a"), packName(turnAt(NOW - DAY), "b")];
    const { left, packs } = folder(
      new Map([
        [old, 1],
        [fresh, 1],
      ]),
    );
    await packs.saved("/t", 1);
    expect([...left.keys()]).toEqual([fresh]);
  });

  it("[UNDO-4] goes when there is too much of it, the oldest first", async () => {
    const names = [5, 4, 3, 2, 1].map((days) => packName(turnAt(NOW - days * DAY), "x"));
    const { left, packs } = folder(new Map(names.map((name) => [name, 100 * MIB])));
    await packs.saved("/t", 1);
    expect([...left.keys()]).toEqual(names.slice(3));
  });

  it("is looked at again only after much was saved", async () => {
    const { left, packs } = folder(new Map());
    await packs.saved("/t", 1);
    left.set(packName(turnAt(NOW - 31 * DAY), "a"), 1);
    await packs.saved("/t", MIB);
    expect(left.size).toBe(1);
    await packs.saved("/t", 16 * MIB);
    expect(left.size).toBe(0);
  });
});
