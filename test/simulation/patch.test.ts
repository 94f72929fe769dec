import assert from "node:assert/strict";
import { describe } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";

const NAMES = ["a.txt", "b.txt", "c.txt"];
const CONFIG = readConfig({ sandbox_mode: "workspace-write", approval_policy: "never" });

const content = (version: number): string => `first\nversion ${version}\nlast\n`;

/** Takes every file from one version to the next. */
function patchTo(version: number): string {
  const files = NAMES.flatMap((name) => [
    `*** Update File: ${name}`,
    "@@",
    " first",
    `-version ${version - 1}`,
    `+version ${version}`,
    " last",
  ]);
  return ["*** Begin Patch", ...files, "*** End Patch"].join("\n");
}

describe("a patch over several files", () => {
  simulate(
    "[PATCH-11] is whole after the next start, whenever its host dies and however",
    { count: 40, full: 1000 },
    async (world) => {
      const { random } = world;
      const versions = () =>
        NAMES.map((name) => Number(/version (\d+)/.exec(world.disk.text(`/work/${name}`)!)![1]));
      for (const name of NAMES) world.disk.put(`/work/${name}`, Buffer.from(content(0)));
      let threadId: string | undefined;
      world.model.scripts = ({ context }) => {
        if (context.at(-1)?.type === "toolOutput") return { steps: [{ do: "say", pieces: ["Done"] }] };
        const next = Math.max(...versions()) + 1;
        return { steps: [{ do: "call", name: "apply_patch", args: { input: patchTo(next) } }] };
      };
      const live = async (client: SimClient) => {
        await client.initialize({ experimentalApi: true });
        if (threadId === undefined) threadId = await client.startThread();
        else await client.call("thread/resume", { threadId });
        for (;;) await client.turnEnd(await client.startTurn(threadId));
      };
      for (let lives = 0; lives < 3; lives++) {
        const host = await world.start({ config: CONFIG });
        const client = host.connect();
        client.rules.onlyReplies = true;
        const dead = host.crashIn(random.between(60, 300), () => random.pick(["kill", "power"]));
        await Promise.all([dead, live(client).catch(() => {})]);
      }
      const host = await world.start({ config: CONFIG });
      await world.scheduler.quiet();
      world.check(() =>
        assert.equal(new Set(versions()).size, 1, `files of different versions: ${versions().join(", ")}`),
      );
      await host.close();
    },
  );
});
