import { describe, expect, it } from "vitest";
import { runSeed, type Scenario, simulate } from "./run.ts";

/** Two turns one after the other; the client's rules check every frame. */
const twoTurns: Scenario = async (world) => {
  const host = await world.start();
  const client = host.connect();
  await client.initialize();
  const threadId = await client.startThread();
  for (const text of ["hello", "and on"]) {
    const turnId = await client.startTurn(threadId, text);
    await client.turnEnd(turnId);
    const agentTexts = client.frames.filter(({ method }) => method === "item/completed").length;
    world.check(() => expect(agentTexts).toBeGreaterThan(0));
  }
  await world.scheduler.quiet();
  const methods = client.frames.map(({ method }) => method);
  world.check(() => {
    expect(methods.filter((method) => method === "turn/completed")).toHaveLength(2);
    expect(methods.filter((method) => method === "thread/started")).toHaveLength(1);
    expect(methods.filter((method) => method === "thread/tokenUsage/updated")).toHaveLength(2);
  });
  await host.close();
  // On a slow wire the last frames may take longer than a closing host waits.
  world.check(() => expect(["closed", "cut"]).toContain(client.end));
};

describe("a first turn", () => {
  simulate("keeps its order whatever comes first", { count: 100, full: 300 }, twoTurns);

  it("repeats with the same seed, and differs with another", async () => {
    const runs: string[] = [];
    for (const seed of [1, 1, 2]) runs.push(await runSeed(seed, twoTurns));
    expect(runs[0]).toBe(runs[1]);
    expect(runs[0]).not.toBe(runs[2]);
  });
});
