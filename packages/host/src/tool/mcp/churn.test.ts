import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { eventually } from "../../../../../test/support/eventually.ts";
import { times } from "../../../../../test/support/long-form.ts";
import { PoolStage, program } from "../../../../../test/support/mcp-pool-stage.ts";
import { LINGER_MS } from "./server-pool.ts";

function heap(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

it("[MCP-3] keeps nothing of thousands of threads that were loaded and unloaded", async () => {
  const stage = await PoolStage.open(
    { own: program(), other: program("--other"), alone: { ...program("--alone"), isolation: "thread" } },
    { byHand: true },
  );
  const first = await stage.load("first");
  await Promise.all(["own", "other", "alone"].map((name) => stage.call(first, "echo", {}, {}, name)));
  const churn = async (from: number, to: number): Promise<void> => {
    for (let nth = from; nth < to; nth++) {
      const thread = await stage.load(`thread-${nth}`);
      expect(stage.mcp.of(thread).length).toBe(3);
      stage.mcp.unload(thread.facts.id);
      stage.told.length = 0;
      if (nth % 100 === 0) stage.pass(LINGER_MS);
    }
    stage.pass(LINGER_MS);
  };
  const [early, late] = [times(500, 2000), times(2500, 10_000)];
  await churn(0, early);
  const before = heap();
  await churn(early, late);
  expect(heap() - before).toBeLessThan(3_000_000);
  expect([...stage.mcp.pool].length).toBe(3);
  expect(stage.running.length).toBe(3);
  stage.mcp.unload("first");
  stage.pass(LINGER_MS);
  await eventually(() => stage.running.length === 0, "no server is left");
  expect([...stage.mcp.pool]).toEqual([]);
});
