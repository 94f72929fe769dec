// Every simulation checks the phases of its turns when it ends (test/simulation/run.ts). This one makes sure that the
// scenes reach all of them.
import { expect, it } from "vitest";
import { runSeed } from "../simulation/run.ts";
import { checkPhases } from "../simulation/turn-phases.ts";
import { LONG } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";
import { scenes } from "./scenes.ts";
import { SceneStage } from "./stage.ts";

const PHASES = ["calling", "compacting", "hooks", "sampling", "shell"];

it(
  "a turn is in a phase with something to do after every commit",
  async () => {
    const seen = new Set<string>();
    for (const scene of scenes) {
      if (!LONG && seen.size === PHASES.length) break;
      await runSeed(1, async (world) => {
        const stage = new SceneStage(world, scene);
        await stage.start();
        await scene.live(stage);
        await stage.end();
        for (const phase of checkPhases(world.disk)) seen.add(phase);
      });
    }
    expect([...seen].sort()).toEqual(PHASES);
  },
  STUCK_MS,
);
