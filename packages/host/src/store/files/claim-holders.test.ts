import { expect, it } from "vitest";
import { ClaimHolders } from "./claim-holders.ts";

/** A folder of claims, with a count of what was looked at. */
function stage(claims: Record<string, string>) {
  const looked: string[] = [];
  const living = new Set(["h1", "h2", "me"]);
  const own = new Set(["mine"]);
  let now = 0;
  let broken = false;
  const holders = new ClaimHolders({
    folder: "/live",
    files: {
      async list() {
        looked.push("folder");
        if (broken) throw new Error("EIO");
        const names = [...Object.keys(claims), "h1.lock", "h1.starts", "boot.mark"];
        return names.map((name) => ({ name, folder: false }));
      },
      async claimed(path) {
        looked.push(path);
        return claims[path.slice("/live/".length)];
      },
    },
    clock: { monotonic: () => now },
    isOwn: (id) => own.has(id),
    self: () => "me",
    async lives(host) {
      looked.push(host);
      return living.has(host);
    },
  });
  return {
    holders,
    looked,
    living,
    own,
    pass(ms: number) {
      now += ms;
    },
    breakFolder(is: boolean) {
      broken = is;
    },
  };
}

it("reads the folder once for a list, and only the claims of threads that are on it", async () => {
  const { holders, looked } = stage({ a: "h1", b: "h1", c: "gone", mine: "h2", other: "h2" });
  expect([...(await holders.ofAll(["a", "b", "c", "mine", "nobody"]))]).toEqual([
    ["a", "h1"],
    ["b", "h1"],
  ]);
  expect(looked).toEqual(["folder", "/live/a", "h1", "/live/b", "/live/c", "gone"]);
});

it("looks for nothing more where no other host has a thread", async () => {
  const { holders, looked } = stage({ mine: "h2" });
  expect((await holders.ofAll(["mine", "a", "b"])).size).toBe(0);
  expect(looked).toEqual(["folder"]);
});

it("reads the folder again after a second, and asks again who lives", async () => {
  const { holders, looked, living, pass } = stage({ a: "h1" });
  await holders.ofAll(["a"]);
  pass(1000);
  await holders.ofAll(["a"]);
  expect(looked.filter((what) => what === "folder" || what === "h1")).toEqual(["folder", "h1"]);
  pass(1);
  living.delete("h1");
  expect((await holders.ofAll(["a"])).size).toBe(0);
  expect(looked.filter((what) => what === "folder")).toHaveLength(2);
});

it("does not remember a folder that could not be read", async () => {
  const { holders, breakFolder } = stage({ a: "h1" });
  breakFolder(true);
  await expect(holders.ofAll(["a"])).rejects.toThrow("EIO");
  breakFolder(false);
  expect((await holders.ofAll(["a"])).get("a")).toBe("h1");
});

it("answers for one thread as it is now", async () => {
  const claims: Record<string, string> = { a: "h1", mine: "h2" };
  const { holders, looked, own } = stage(claims);
  expect(await holders.of("a")).toBe("h1");
  expect(await holders.of("mine")).toBeUndefined();
  own.add("a");
  expect(await holders.of("a")).toBeUndefined();
  expect(looked).not.toContain("folder");
});

it("names no other host for a claim of its own that it could not give back", async () => {
  const { holders } = stage({ a: "me" });
  expect(await holders.of("a")).toBeUndefined();
  expect((await holders.ofAll(["a"])).size).toBe(0);
});

it("takes neither locks nor marks for claims", async () => {
  const { holders, looked } = stage({ a: "h1", "a.taken": "h2" });
  const found = await holders.ofAll(["a", "a.taken", "h1.lock", "h1.starts", "boot.mark"]);
  expect([...found]).toEqual([["a", "h1"]]);
  expect(looked).toEqual(["folder", "/live/a", "h1"]);
});
