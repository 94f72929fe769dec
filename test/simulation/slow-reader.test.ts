import { describe, expect } from "vitest";
import type { ModelScripts } from "./fake-model.ts";
import { simulate } from "./run.ts";

/** A few pieces are more than a connection's queue holds: they are dropped, and made again from the journal. */
const PIECE_LENGTH = 900_000;

const verbose: ModelScripts = (_request, random, call) => {
  const letters = "abcdefg".split("").slice(0, random.between(4, 7));
  return { steps: [{ do: "say", pieces: letters.map((letter) => `${call}${letter.repeat(PIECE_LENGTH)}`) }] };
};
const brief: ModelScripts = () => ({ steps: [{ do: "say", pieces: ["brief"] }] });

describe("a client that does not read", () => {
  simulate(
    "gets everything in the end, while others notice nothing",
    { count: 5, full: 25 },
    async (world) => {
      const { random, model } = world;
      const moments = async (most: number) => {
        for (let left = random.between(0, most); left > 0; left--) await world.moment();
      };
      const host = await world.start();
      const [slow, quick] = [host.connect({ magnify: 1000 }), host.connect()];
      slow.rules.mayLag = true;
      await Promise.all([slow.initialize(), quick.initialize()]);
      const threadId = await slow.startThread();
      const ownThread = await quick.startThread();
      const turns: Promise<string>[] = [];
      for (let left = random.between(1, 2); left > 0; left--) {
        model.scripts = verbose;
        turns.push(slow.startTurn(threadId));
        await moments(6);
        slow.stopReading();
        // Either it reads again in the middle of the answer, or when all is said.
        if (random.chance(0.5)) await moments(30);
        else await world.scheduler.quiet();
        if (random.chance(0.3)) {
          slow.goOnReading();
          await moments(6);
          slow.stopReading();
        }
        await world.scheduler.quiet();
        model.scripts = brief;
        await quick.turnEnd(await quick.startTurn(ownThread));
        if (random.chance(0.5)) slow.goOnReading();
      }
      slow.goOnReading();
      const ended = new Set<string>();
      for (const turn of turns) {
        const turnId = await turn;
        await slow.turnEnd(turnId);
        ended.add(turnId);
      }
      await world.scheduler.quiet();
      const ends = slow.frames.filter(({ method }) => method === "turn/completed");
      world.check(() => expect(ends).toHaveLength(ended.size));
      await host.close();
    },
  );
});
