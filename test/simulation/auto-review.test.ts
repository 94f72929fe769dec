// Approvals that a model judges, while hosts die: a review that had not ended starts again, one that had is not repeated.
import assert from "node:assert/strict";
import { afterAll, describe } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { ModelRequest } from "../../packages/host/src/model/model.ts";
import { textOf } from "../model/conversation.ts";
import { askedDeeds } from "./asked-deeds.ts";
import { agent, DyingHosts } from "./deeds.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";

const CONFIG = readConfig({ approvals_reviewer: "auto_review", approval_policy: "on-request" });

const isReview = ({ instructions }: ModelRequest) => instructions.includes("in place of a person");

/** Which deed a reviewer is asked about. */
function reviewedDeed({ context }: ModelRequest): number {
  const { action } = JSON.parse(textOf(context.at(-1))) as { action: { command: string } };
  return Number(action.command.slice(4));
}

interface Review {
  readonly deed: number;
  readonly status: string;
}

/** The reviews of which a client was sent the end. */
function endedReviews({ frames }: SimClient): readonly Review[] {
  return frames.flatMap(({ method, params }) => {
    if (method !== "item/autoApprovalReview/completed") return [];
    const { review, action } = params as { review: { status: string }; action: { command: string } };
    return [{ deed: Number(action.command.slice(4)), status: review.status }];
  });
}

/** In all schedules: in one of them every turn may be interrupted. */
let deedsDone = 0;
afterAll(() => assert(deedsDone > 0, "nothing was ever done"));

describe("approvals that a model judges", () => {
  simulate(
    "[AUTOREV-10] are judged again if their host died meanwhile, and never after a verdict; nothing is done that was not allowed",
    { count: 15, full: 1000 },
    async (world) => {
      const { random } = world;
      const done: number[] = [];
      const judged = new Set<number>();
      /** Even deeds are allowed. */
      world.model.scripts = (request) => {
        if (!isReview(request)) return agent(request);
        const deed = reviewedDeed(request);
        world.check(() => assert(!judged.has(deed), `deed ${deed} is judged after its verdict was shown`));
        const outcome = deed % 2 === 0 ? "allow" : "deny";
        const say = { do: "say", pieces: [JSON.stringify({ outcome, rationale: "a reason" })] } as const;
        return { steps: random.chance(0.5) ? [{ do: "pause", ms: random.between(1, 500) }, say] : [say] };
      };
      let deed = 0;
      const hosts = new DyingHosts(world);
      const live = async (client: SimClient) => {
        client.heard = () => {
          for (const { deed: ended, status } of endedReviews(client))
            if (status !== "aborted") judged.add(ended);
        };
        await hosts.enter(client);
        for (let turns = 0; turns < 5; turns++) await hosts.turn(client, `act ${++deed}`, 0.2);
      };
      const start = () => world.start({ config: CONFIG, tools: askedDeeds(done) });
      await hosts.live({ start, steps: [40, 300], live });
      world.check(() => {
        assert.deepEqual(
          done.filter((n) => n % 2 === 1),
          [],
          "done without being allowed",
        );
        if (!hosts.powerCut) assert.deepEqual(done, [...new Set(done)], "done twice");
      });
      deedsDone += done.length;
    },
  );

  simulate(
    "[AUTOREV-10] are judged again, under the same id, by the host that follows one that died meanwhile",
    { count: 4, full: 100 },
    async (world) => {
      const done: number[] = [];
      let calls = 0;
      world.model.scripts = (request) => {
        if (!isReview(request)) return agent(request);
        if (++calls === 1) return { steps: [{ do: "hang" }] };
        return { steps: [{ do: "say", pieces: ['{"outcome":"allow"}'] }] };
      };
      const first = await world.start({ config: CONFIG, tools: askedDeeds(done) });
      const before = first.connect();
      await before.initialize({ experimentalApi: true });
      const threadId = await before.startThread();
      const turnId = await before.startTurn(threadId, "act 2");
      const started = ({ method }: { method?: string }) => method === "item/autoApprovalReview/started";
      await before.until("a review", started);
      while (calls === 0) await world.sleep(1);
      first.crash("kill");
      const second = await world.start({ config: CONFIG, tools: askedDeeds(done) });
      const after = second.connect();
      await after.initialize({ experimentalApi: true });
      await after.call("thread/resume", { threadId });
      await after.turnEnd(turnId);
      const id = before.frames.find(started)!.params!.reviewId;
      const ended = after.frames.find(({ method }) => method === "item/autoApprovalReview/completed");
      world.check(() => {
        assert.equal(calls, 2);
        assert.deepEqual(done, [2]);
        assert.equal(ended?.params?.reviewId, id);
      });
    },
  );

  simulate(
    "[AUTOREV-11] are denied after 90 seconds without a verdict, and the turn goes on",
    { count: 3, full: 30 },
    async (world) => {
      const done: number[] = [];
      let told = "";
      world.model.scripts = (request) => {
        if (isReview(request)) return { steps: [{ do: "hang" }] };
        const output = request.context.findLast(({ type }) => type === "toolOutput");
        if (output?.type === "toolOutput") told = String(output.output);
        return agent(request);
      };
      const host = await world.start({ config: CONFIG, tools: askedDeeds(done) });
      const client = host.connect();
      await client.initialize({ experimentalApi: true });
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId, "act 2");
      await client.turnEnd(turnId);
      const methods = client.frames.map(({ method }) => method);
      world.check(() => {
        assert.deepEqual(endedReviews(client), [{ deed: 2, status: "timedOut" }]);
        assert.deepEqual(done, []);
        assert.match(told, /did not end in time.*try once more/);
        assert(methods.indexOf("guardianWarning") < methods.indexOf("item/autoApprovalReview/completed"));
        const ended = client.frames.find(({ method }) => method === "item/autoApprovalReview/completed");
        const { startedAtMs, completedAtMs } = ended!.params as Record<string, number>;
        assert.equal(completedAtMs! - startedAtMs! >= 90_000, true);
      });
    },
  );
});
