// Settings of a running turn, while its host dies.
import assert from "node:assert/strict";
import { describe } from "vitest";
import { Answering } from "../model/answering.ts";
import { Ledger } from "../model/ledger.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";

const QUESTION = {
  questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
};
const ASKED = "item/tool/requestUserInput";

async function join(host: SimHost): Promise<SimClient> {
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  return client;
}

describe("settings of a turn that waits for an answer", () => {
  simulate(
    "[TURN-16] count for the next call of the model, whenever the host dies after they were changed",
    { count: 20, full: 300 },
    async (world) => {
      const { random } = world;
      const calls: { readonly model: string; readonly effort: string | null }[] = [];
      world.model.scripts = ({ context, model, effort }) => {
        calls.push({ model, effort });
        const answered = context.some(({ type }) => type === "toolOutput");
        if (answered) return { steps: [{ do: "say", pieces: ["done"] }] };
        return { steps: [{ do: "call", name: "request_user_input", args: QUESTION }] };
      };
      const host = await world.start();
      const client = await join(host);
      const threadId = await client.startThread({ model: "first", effort: "low" });
      const turnId = await client.startTurn(threadId);
      await client.until("the question", ({ method }) => method === ASKED);
      // In the step in which the record has reached the disk, or some time after the reply.
      const dies = random.pick(["at the record", "later"] as const);
      const crash = () => {
        world.disk.appended = () => {};
        host.crash("kill");
      };
      world.disk.appended = (path) => {
        const last = world.disk.text(path)?.trimEnd().split("\n").at(-1) ?? "";
        if (dies === "at the record" && last.includes("turnSettingsChanged")) crash();
      };
      const update = { threadId, turnId, model: "second", effort: "high" };
      const outcome = await client.request("turn/settings/update", update);
      if (dies === "later") {
        world.check(() =>
          assert.deepEqual("reply" in outcome && outcome.reply.result, { status: "applied" }),
        );
        await world.sleep(random.between(0, 5000));
        crash();
      }
      world.check(() => assert.equal(calls.length, 1));
      const next = await world.start();
      const other = await join(next);
      const answering = new Answering(other, new Ledger());
      other.heard = () => answering.look();
      await other.call("thread/resume", { threadId });
      await other.turnEnd(turnId);
      world.check(() => assert.deepEqual(calls[1], { model: "second", effort: "high" }));
      // The turn after it has the thread's own again.
      await other.turnEnd(await other.startTurn(threadId));
      const { model, effort } = calls.at(-1)!;
      world.check(() => assert.deepEqual({ model, effort }, calls[0]));
      await next.close();
    },
  );
});
