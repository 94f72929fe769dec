import assert from "node:assert/strict";
import { describe } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { simulate } from "./run.ts";

const NAMES = ["a.txt", "b.txt", "c.txt", "d.txt"];
const CONFIG = readConfig({ sandbox_mode: "workspace-write", approval_policy: "never" });
const OLD = "first\nold\nlast\n";

/** Changes two files, removes one, and makes one. */
const PATCH = [
  "*** Begin Patch",
  ...["a.txt", "b.txt"].flatMap((name) => [`*** Update File: ${name}`, "@@", "-old", "+new"]),
  "*** Delete File: c.txt",
  "*** Add File: d.txt",
  "+new",
  "*** End Patch",
].join("\n");

describe("a restore of several files", () => {
  simulate(
    "[UNDO-6] leaves each file old or new whenever its host dies, and is finished by the next one",
    { count: 40, full: 1000 },
    async (world) => {
      const { random } = world;
      const contents = () => NAMES.map((name) => world.disk.text(`/work/${name}`));
      for (const name of NAMES.slice(0, 3)) world.disk.put(`/work/${name}`, Buffer.from(OLD));
      const before = contents();
      world.model.scripts = ({ context }) =>
        context.at(-1)?.type === "toolOutput"
          ? { steps: [{ do: "say", pieces: ["Done"] }] }
          : { steps: [{ do: "call", name: "apply_patch", args: { input: PATCH } }] };
      const host = await world.start({ config: CONFIG });
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId);
      await client.turnEnd(turnId);
      const after = contents();
      world.check(() =>
        assert.deepEqual(after, ["first\nnew\nlast\n", "first\nnew\nlast\n", undefined, "new\n"]),
      );
      const dead = host.crashIn(random.between(0, 60), () => random.pick(["kill", "power"]));
      const restored = client.call("thread/files/restore", { threadId, beforeTurnId: turnId });
      await Promise.race([dead, restored.catch(() => {})]);
      await dead;
      world.check(() => {
        for (const [nth, content] of contents().entries())
          assert(
            [before[nth], after[nth]].includes(content),
            `${NAMES[nth]} is neither old nor new: ${content}`,
          );
      });
      const next = await world.start({ config: CONFIG });
      const again = next.connect();
      again.rules.onlyReplies = true;
      await again.initialize({ experimentalApi: true });
      await again.call("thread/resume", { threadId });
      const outcome = await again.call("thread/files/restore", { threadId, beforeTurnId: turnId });
      world.check(() => {
        assert.deepEqual(outcome["failed"], []);
        assert.deepEqual(contents(), before);
      });
      await next.close();
    },
  );
});
