// Patches and a disk that is full: that of the workspace at each write, and that of the home.
import assert from "node:assert/strict";
import { describe } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { simulate } from "./run.ts";
import type { World } from "./world.ts";

const NAMES = ["a.txt", "b.txt", "c.txt", "d.txt"];
const CONFIG = readConfig({ sandbox_mode: "workspace-write", approval_policy: "never" });
const OLD = "first\nold\nlast\n";
const NEW = "first\nnew\nlast\n";
const PATCH = [
  "*** Begin Patch",
  ...NAMES.flatMap((name) => [`*** Update File: ${name}`, "@@", "-old", "+new"]),
  "*** End Patch",
].join("\n");

const contents = ({ disk }: World) => NAMES.map((name) => disk.text(`/work/${name}`));

/** A turn that patches all files; what the model was answered, and the diffs that were sent. */
async function patchTurn(world: World, fill: () => () => void) {
  for (const name of NAMES) world.disk.put(`/work/${name}`, Buffer.from(OLD));
  let output = "";
  world.model.scripts = ({ context }) => {
    const last = context.at(-1);
    if (last?.type !== "toolOutput")
      return { steps: [{ do: "call", name: "apply_patch", args: { input: PATCH } }] };
    output = JSON.stringify(last);
    return { steps: [{ do: "say", pieces: ["Done"] }] };
  };
  const host = await world.start({ config: CONFIG });
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  const threadId = await client.startThread();
  const makeRoom = fill();
  await client.turnEnd(await client.startTurn(threadId));
  makeRoom();
  const diffs = client.frames
    .filter(({ method }) => method === "turn/diff/updated")
    .map(({ params }) => String(params?.["diff"]));
  await host.close();
  return { output, diffs };
}

describe("a patch while the disk is full", () => {
  for (const written of NAMES.keys()) {
    simulate(
      `[PATCH-13] changes no file, and the model is answered so, with room for ${written} of four files`,
      { count: 4, full: 100 },
      async (world) => {
        const { output, diffs } = await patchTurn(world, () =>
          world.disk.fail({
            op: ["replaceText"],
            code: "ENOSPC",
            skip: written,
            path: (path) => path.startsWith("/work/"),
          }),
        );
        world.check(() => {
          assert.deepEqual(contents(world), [OLD, OLD, OLD, OLD]);
          assert.match(output, /No file was changed/);
          assert.deepEqual(diffs, []);
        });
      },
    );
  }

  simulate(
    "[PATCH-13] is applied where only its old files cannot be saved, and the diff says what is missing",
    { count: 10, full: 200 },
    async (world) => {
      const { output, diffs } = await patchTurn(world, () =>
        world.disk.fail({
          op: ["openAppend"],
          code: "ENOSPC",
          times: Number.POSITIVE_INFINITY,
          path: (path) => path.includes("/before-"),
        }),
      );
      world.check(() => {
        assert.deepEqual(contents(world), [NEW, NEW, NEW, NEW]);
        assert.match(output, /Success\. Updated the following files:/);
        assert.equal(diffs.length, 1);
        assert.match(diffs[0]!, /^# Not in this diff: .*ENOSPC/);
      });
    },
  );
});
