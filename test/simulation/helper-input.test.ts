// Input for helpers that cannot take it at once.
import { describe, expect } from "vitest";
import { helped } from "../model/helped.ts";
import { checkJournals } from "../model/journals.ts";
import { familyOf, results } from "./family.ts";
import { simulate } from "./run.ts";

const HOUR = 60 * 60_000;

describe("a helper", () => {
  simulate(
    "[HELPER-25] gets its input behind a compaction of its own, however long that takes",
    { count: 20, full: 200 },
    async (world) => {
      const { scheduler } = world;
      const summary = [
        { do: "pause", ms: HOUR / 2 },
        { do: "say", pieces: ["in short"] },
      ] as const;
      // Only a request for a summary has no tools.
      world.model.scripts = (request, random, call) =>
        request.tools.length === 0 ? { steps: summary } : helped(request, random, call);
      const host = await world.start();
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      const threadId = await client.startThread();
      await client.turnEnd(await client.startTurn(threadId, "spawn wait"));
      await scheduler.quiet();
      const [childId] = [...familyOf(world, threadId).children.keys()];
      await client.call("thread/compact/start", { threadId: childId! });
      await client.turnEnd(await client.startTurn(threadId, "send wait"));
      await scheduler.quiet();
      await host.close();
      world.check(() => {
        checkJournals(world.disk);
        const family = familyOf(world, threadId);
        const outputs = family.parent.filter(({ type }) => type === "toolAnswered");
        const last = results(family).at(-1)!;
        expect(outputs.at(-1)!.output).toContain(last);
        expect(JSON.stringify(outputs)).not.toContain("errored");
        const child = family.children.get(childId!)!.map(({ type }) => type);
        expect(child.filter((type) => type === "inputAccepted")).toHaveLength(2);
        expect(child.lastIndexOf("inputAccepted")).toBeGreaterThan(child.indexOf("compacted"));
      });
    },
  );
});
