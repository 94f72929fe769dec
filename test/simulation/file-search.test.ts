import assert from "node:assert/strict";
import { describe } from "vitest";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

const PATHS = ["a/one.ts", "a/two.ts", "b/three.ts", "b/c/four.ts", "b/c/d/five.ts", "six.ts"];
const QUERIES = ["ts", "o", "three", "b/", "zzz", ""];

/** The files that have the letters of a query in order. */
function matching(query: string): readonly string[] {
  if (query === "") return [];
  const pattern = new RegExp(query.split("").join(".*"));
  return [...PATHS, ".ignore"].filter((path) => pattern.test(path));
}

async function live(world: World, client: SimClient): Promise<void> {
  const { random } = world;
  await client.initialize({ experimentalApi: true });
  await client.call("fuzzyFileSearch/sessionStart", { sessionId: "s", roots: ["/w"] });
  for (let left = random.between(1, 5); left > 0; left--) {
    const query = random.pick(QUERIES);
    const asked = client.request("fuzzyFileSearch/sessionUpdate", { sessionId: "s", query });
    if (random.chance(0.5)) {
      const single = {
        query: random.pick(QUERIES),
        roots: ["/w"],
        cancellationToken: random.pick(["t", null]),
      };
      void client.request("fuzzyFileSearch", single);
    }
    await asked;
    for (let moments = random.between(0, 15); moments > 0; moments--) await world.moment();
  }
  if (random.chance(0.3)) return client.cut();
  const query = random.pick(QUERIES);
  const from = client.frames.length;
  await client.call("fuzzyFileSearch/sessionUpdate", { sessionId: "s", query });
  await world.scheduler.quiet();
  const [updated, completed] = client.frames
    .slice(from)
    .filter(({ method }) => method?.startsWith("fuzzyFileSearch/session"))
    .slice(-2);
  if (client.end !== "open") return;
  world.check(() => {
    assert.equal(completed?.method, "fuzzyFileSearch/sessionCompleted");
    assert.equal(updated!.params!.query, query);
    const files = (updated!.params!.files as { path: string; match_type: string }[])
      .filter(({ match_type: kind }) => kind === "file")
      .map(({ path }) => path);
    assert.deepEqual([...files].sort(), [...matching(query)].sort());
  });
}

describe("searches for files", () => {
  simulate(
    "[SEARCH-7] end with the last query of a session, with its connection and with the host",
    { count: 30, full: 200 },
    async (world) => {
      for (const path of PATHS) world.disk.put(`/w/${path}`, "");
      world.disk.put("/w/.ignore", "ignored\n");
      world.disk.put("/w/a/ignored", "");
      const host = await world.start();
      const lives = [host.connect(), host.connect()].map((client) => live(world, client).catch(() => {}));
      if (world.random.chance(0.3)) {
        for (let moments = world.random.between(0, 60); moments > 0; moments--) await world.moment();
        await host.close();
      }
      await Promise.all(lives);
      await host.close();
    },
  );
});
