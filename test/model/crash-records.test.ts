// The host dies in the step in which a record reaches the disk, before anything that the record leads to. The next
// host does what is left, and nothing that was acknowledged is lost.
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { RECORDS } from "../../packages/host/src/core/records.ts";
import { runSeed } from "../simulation/run.ts";
import type { World } from "../simulation/world.ts";
import { firstOf, LONG } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";
import type { JournalRecord } from "./journals.ts";
import { checkAfterwards, goOn } from "./next-host.ts";
import { type Scene, scenes } from "./scenes.ts";
import { SceneStage } from "./stage.ts";

const SEEDS = LONG ? [1, 2, 3] : [1];

type RecordType = keyof typeof RECORDS;

/** A commit of a scene: the nth line that any host appends. */
interface Point {
  readonly scene: Scene;
  readonly seed: number;
  readonly nth: number;
  readonly types: readonly string[];
}

/** How a host dies of a commit: killed or with the power as it is written, or with the power as it is synced. */
const DEATHS = {
  "a kill": { kind: "kill", at: "append" },
  "a power cut": { kind: "power", at: "append" },
  "a power cut behind the sync": { kind: "power", at: "sync" },
} as const;

type Death = keyof typeof DEATHS;

const isJournal = (path: string) => path.endsWith(".jsonl") || path.endsWith(".starts");

/** The types of records in the last line of a file; none if it is no commit. */
function lastTypes({ disk }: World, path: string): readonly string[] {
  const line = disk.text(path)!.trimEnd().split("\n").at(-1)!;
  return ((JSON.parse(line) as { records?: JournalRecord[] }).records ?? []).map(({ type }) => type);
}

/** All commits of a scene that nothing disturbs. */
async function pointsOf(scene: Scene, seed: number): Promise<readonly Point[]> {
  const points: Point[] = [];
  await runSeed(seed, async (world) => {
    const stage = new SceneStage(world, scene);
    let nth = 0;
    world.disk.appended = (path) => {
      if (isJournal(path)) points.push({ scene, seed, nth: ++nth, types: lastTypes(world, path) });
    };
    await stage.start();
    await scene.live(stage);
    await stage.end();
  });
  return points;
}

/** The first commit of each kind: with the same types of records, and in the same scene, others are taken for alike. */
function distinct(points: readonly Point[]): readonly Point[] {
  const seen = new Set<string>();
  return points.filter(({ scene, seed, types }) => {
    const key = `${scene.name} ${seed} ${[...new Set(types)].sort().join(" ")}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const allPoints = (async () => {
  const found: Point[] = [];
  for (const scene of scenes) for (const seed of SEEDS) found.push(...(await pointsOf(scene, seed)));
  return found;
})();

/** Plays a scene up to the commit, and lets the host die of it; false if that never happens. */
async function die(stage: SceneStage, { scene, nth }: Point, death: Death): Promise<boolean> {
  const { world } = stage;
  const { kind, at } = DEATHS[death];
  const dead = new Promise<boolean>((resolve) => {
    const crash = () => {
      world.disk.appended = () => {};
      world.disk.synced = () => {};
      stage.crash(kind);
      resolve(true);
    };
    let count = 0;
    world.disk.appended = (path) => {
      if (!isJournal(path) || ++count !== nth) return;
      if (at === "append") return crash();
      world.disk.synced = (synced) => {
        if (synced === path) crash();
      };
    };
  });
  const life = async (): Promise<boolean> => {
    await stage.start();
    await scene.live(stage);
    await stage.end();
    return false;
  };
  return Promise.race([dead, life().catch(() => dead)]);
}

/** What came of each death: a commit has records of several types. */
const outcomes = new Map<string, Promise<void>>();

function dieAndGoOn(point: Point, death: Death): Promise<void> {
  const key = `${point.scene.name} ${point.seed} ${point.nth} ${death}`;
  const outcome = outcomes.get(key) ?? run(point, death);
  outcomes.set(key, outcome);
  return outcome;
}

async function run(point: Point, death: Death): Promise<void> {
  const about = `${death} at commit ${point.nth} (${point.types.join(" ")}) of "${point.scene.name}"`;
  await runSeed(point.seed, async (world) => {
    try {
      const stage = new SceneStage(world, point.scene);
      assert(await die(stage, point, death), "it does not come to that");
      await goOn(stage);
      await checkAfterwards(stage, DEATHS[death].kind);
    } catch (cause) {
      throw new Error(`${about}: ${(cause as Error).message}`, { cause });
    }
  });
}

describe("a host that dies between a record and what it leads to", () => {
  for (const type of Object.keys(RECORDS) as RecordType[]) {
    it(`is followed by a host that performs the effect: ${type}`, { timeout: STUCK_MS }, async () => {
      const all = (await allPoints).filter(({ types }) => types.includes(type));
      assert(all.length > 0, `no scene has a ${type}`);
      const deaths = (Object.keys(DEATHS) as Death[]).filter(
        (death) => DEATHS[death].at === "append" || RECORDS[type].durability === "synced",
      );
      // Those that differ come first.
      for (const point of firstOf(new Set([...distinct(all), ...all]), 1, 6)) {
        for (const death of deaths) await dieAndGoOn(point, death);
      }
    });
  }
});
