// Commands that write more than anybody reads: on the real program, with a local model.
import { describe, expect, it } from "vitest";
import { commandStage, hostOf } from "../support/command-stage.ts";
import { outputOf, run, say } from "../support/model-replies.ts";
import type { WireClient } from "../support/wire-client.ts";

const MiB = 1024 * 1024;
/** 39 MB. */
const LINES = 5_000_000;
/** 2 MB: within what the host queues for a client, however slowly the client reads. */
const FEWER_LINES = 300_000;

const deltas = (client: WireClient): readonly string[] =>
  client.told("item/commandExecution/outputDelta").map(({ params }) => params.delta);

describe("a command that writes without pause", () => {
  it("[EXEC-17] reaches a client whole, in larger pieces than the command wrote", async () => {
    const { client, threadId } = await commandStage(
      [run({ cmd: `seq 1 ${FEWER_LINES}`, yield_time_ms: 30_000, max_output_tokens: 200 }), say("done")],
      ['sandbox_mode = "danger-full-access"', 'approval_policy = "never"'],
    );
    await client.turn(threadId, "go");
    const lines = Array.from({ length: FEWER_LINES }, (_, nth) => `${nth + 1}\n`);
    expect(deltas(client).join("") === lines.join("")).toBe(true);
    expect(deltas(client).length).toBeLessThan(FEWER_LINES / 10);
  });

  it("[EXEC-17] costs little, and its end reaches the model, a client that reads, and one that reads much later", async () => {
    const { model, host, client, threadId, home } = await commandStage(
      [run({ cmd: `seq 1 ${LINES}`, yield_time_ms: 30_000, max_output_tokens: 200 }), say("done")],
      ['sandbox_mode = "danger-full-access"', 'approval_policy = "never"'],
    );
    const slow = await host.join(undefined, { experimentalApi: true });
    await slow.call("thread/resume", { threadId });
    slow.pause();
    const before = host.rss();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, host.rss());
    }, 20);
    await client.turn(threadId, "go").finally(() => clearInterval(watch));
    expect(most - before).toBeLessThan(128 * MiB);
    expect(outputOf(model)).toMatch(
      new RegExp(
        `exited with code 0[\\s\\S]*\\n1\\n2\\n[\\s\\S]*the beginning of the output is in [\\s\\S]*\\n${LINES}\\n$`,
      ),
    );
    slow.resume();
    await slow.waitFor(({ method }) => method === "turn/completed", "the end of the turn");
    for (const one of [client, slow]) {
      const { item } = one
        .told("item/completed")
        .map(({ params }) => params)
        .find((params) => params.item.type === "commandExecution")!;
      expect(item).toMatchObject({ status: "completed", exitCode: 0 });
      expect(item.aggregatedOutput.startsWith("1\n2\n")).toBe(true);
      expect(item.aggregatedOutput.endsWith(`\n${LINES}\n`)).toBe(true);
      expect(item.aggregatedOutput.length).toBeLessThan(MiB);
    }
    // What it missed is left out, and it is not sent more than was saved of it.
    expect(deltas(slow).join("").length).toBeLessThan(16 * MiB);
    await host.kill();
    const { client: next } = await hostOf(home);
    const { thread } = await next.call("thread/resume", { threadId });
    const shown = thread.turns[0].items.find(({ type }: { type: string }) => type === "commandExecution");
    expect(shown.aggregatedOutput.endsWith(`\n${LINES}\n`)).toBe(true);
  });
});
