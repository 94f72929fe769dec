import assert from "node:assert/strict";
import { describe } from "vitest";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

const PATHS = ["/w/a", "/w/d", "/w/d/x", "/w/n/o/p"];
const FILES = ["/w/a", "/w/b", "/w/d/x", "/w/d/y", "/w/n/o/p"];

/** Something happens on the disk. */
function change({ disk, random }: World): void {
  const path = random.pick(FILES);
  const kind = random.pick(["write", "write", "replace", "remove", "folder"] as const);
  if (kind === "write") disk.put(path, `${random.below(1_000_000)}`);
  else if (kind === "replace") {
    disk.put("/w/draft", `${random.below(1_000_000)}`);
    disk.rename("/w/draft", path);
  } else if (kind === "remove" && disk.get(path) !== undefined) disk.remove(path, true);
  else if (kind === "folder" && disk.isFolder("/w/d")) disk.remove("/w/d", true);
}

/** What a client sees that looks again at what is reported to have changed, and at nothing else. */
class Looker {
  readonly #world: World;
  readonly #watched: readonly string[];
  readonly #seen = new Map<string, string | undefined>();

  constructor(world: World, watched: readonly string[]) {
    this.#world = world;
    this.#watched = watched;
    for (const path of this.#shown()) this.#seen.set(path, this.#now(path));
  }

  reported(paths: readonly string[]): void {
    for (const path of paths)
      for (const shown of this.#shown())
        if (shown === path || (path === "/w/d" && shown.startsWith("/w/d/")))
          this.#seen.set(shown, this.#now(shown));
  }

  check(): void {
    for (const [path, seen] of this.#seen) assert.equal(seen, this.#now(path), `${path} has changed unseen`);
  }

  /** A watched folder shows its entries, too. */
  #shown(): readonly string[] {
    const entries = this.#watched.includes("/w/d") ? FILES.filter((file) => file.startsWith("/w/d/")) : [];
    return [...new Set([...this.#watched, ...entries])];
  }

  #now(path: string): string | undefined {
    return this.#world.disk.isFolder(path) ? "a folder" : this.#world.disk.text(path);
  }
}

/** Time for lookups, which rest in between, and for reports. */
async function settle(world: World): Promise<void> {
  for (let nth = 0; nth < 5; nth++) {
    await world.sleep(5000);
    await world.scheduler.quiet();
  }
}

describe("the watches of clients", () => {
  simulate(
    "[WATCH-5] is reported after each change, whatever else happens meanwhile, also to who reads slowly",
    { count: 150, full: 1000 },
    async (world) => {
      const { random, disk } = world;
      disk.put("/w/a", "a");
      disk.put("/w/d/x", "x");
      const host = await world.start();
      const client = host.connect({ magnify: random.pick([1, 1, 5000]) });
      await client.initialize();
      const watched = PATHS.filter(() => random.chance(0.7));
      for (const path of watched) await client.call("fs/watch", { watchId: path, path });
      const looker = new Looker(world, watched);
      client.heard = () => {
        const { method, params } = client.frames.at(-1)!;
        if (method === "fs/changed") looker.reported(params!.changedPaths as string[]);
      };
      for (let left = random.between(1, 15); left > 0; left--) {
        change(world);
        if (random.chance(0.4)) {
          await settle(world);
          world.check(() => looker.check());
        }
        for (let moments = random.between(0, 10); moments > 0; moments--) await world.moment();
      }
      await settle(world);
      world.check(() => looker.check());
      for (const { method, params } of client.frames)
        if (method === "fs/changed") {
          const paths = params!.changedPaths as string[];
          world.check(() => assert.deepEqual(paths, [...new Set(paths)].sort()));
        }
      await host.close();
    },
  );

  simulate(
    "[WATCH-4] ends with its connection, with fs/unwatch and with the host",
    { count: 100, full: 600 },
    async (world) => {
      const { random } = world;
      const host = await world.start();
      const live = async (client: SimClient): Promise<void> => {
        await client.initialize();
        for (const path of PATHS) {
          const watching = client.request("fs/watch", { watchId: path, path });
          if (random.chance(0.5)) await watching;
          if (random.chance(0.3)) await client.request("fs/unwatch", { watchId: path });
          for (let moments = random.between(0, 5); moments > 0; moments--) await world.moment();
        }
        if (random.chance(0.5)) return client.cut();
        for (const path of PATHS) await client.request("fs/unwatch", { watchId: path });
        const after = client.frames.length;
        change(world);
        await settle(world);
        const late = client.frames.slice(after).filter(({ method }) => method === "fs/changed");
        world.check(() => assert.deepEqual(late, []));
      };
      // The host may end before a client has said anything.
      const lives = [host.connect(), host.connect(), host.connect()].map((client) =>
        live(client).catch(() => {}),
      );
      for (let left = 20; left > 0; left--) {
        change(world);
        await world.moment();
      }
      if (random.chance(0.3)) await host.close();
      await Promise.all(lives);
      await host.close();
      world.check(() => assert.deepEqual(world.disk.watchedPaths, []));
    },
  );
});
