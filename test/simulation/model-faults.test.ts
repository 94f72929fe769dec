import { describe, expect } from "vitest";
import type { ModelScript } from "./fake-model.ts";
import { type Scenario, simulate } from "./run.ts";

/** One turn on a scripted model, interrupted at a moment of the scheduler's choice if it does not end by itself. */
function oneTurn(script: ModelScript, ends: readonly string[], interrupt: boolean): Scenario {
  return async (world) => {
    world.expectError(/model stream failed/);
    world.model.scripts = () => script;
    const host = await world.start();
    const client = host.connect();
    await client.initialize();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId);
    if (interrupt) {
      for (let left = world.random.between(0, 12); left > 0; left--) await world.moment();
      await client.request("turn/interrupt", { threadId, turnId });
    }
    await client.turnEnd(turnId);
    const end = client.frames.find(({ method }) => method === "turn/completed")!;
    world.check(() => expect(ends).toContain((end.params!.turn as { status: string }).status));
    // What comes late must not disturb the next turn.
    world.model.scripts = () => ({ steps: [{ do: "say", pieces: ["all ", "well"] }] });
    const next = await client.startTurn(threadId);
    await client.turnEnd(next);
    await host.close();
  };
}

const mumble = { do: "mumble", pieces: ["I was ", "saying"] } as const;

describe("a model", () => {
  simulate(
    "that fails ends the turn as failed",
    { count: 20, full: 100 },
    oneTurn({ steps: [mumble, { do: "fail", message: "no" }] }, ["failed"], false),
  );
  simulate(
    "that fails again and again is given up after its retries",
    { count: 100 },
    oneTurn({ steps: [mumble, { do: "fail", message: "no", retries: 2 }] }, ["failed"], false),
  );
  simulate(
    "that fails and is called again can be interrupted at any moment",
    { count: 200 },
    oneTurn({ steps: [mumble, { do: "fail", message: "no", retries: 50 }] }, ["interrupted"], true),
  );
  simulate("that comes back is heard, and every failure before it is told", { count: 100 }, async (world) => {
    const lost = [mumble, { do: "fail", message: "lost", retries: 3 }] as const;
    world.model.scripts = (_request, _random, call) => ({
      steps: call < 3 ? lost : [{ do: "say", pieces: ["back"] }],
    });
    const host = await world.start();
    const client = host.connect();
    await client.initialize();
    const turnId = await client.startTurn(await client.startThread());
    await client.turnEnd(turnId);
    const errors = client.frames.filter(({ method }) => method === "error");
    world.check(() => expect(errors.map(({ params }) => params!.willRetry)).toEqual([true, true]));
    await host.close();
  });
  simulate(
    "that throws ends the turn as failed",
    { count: 20, full: 100 },
    oneTurn({ steps: [mumble, { do: "throw", message: "no" }] }, ["failed"], false),
  );
  simulate(
    "that stops without a word ends the turn as failed",
    { count: 15, full: 50 },
    oneTurn({ steps: [mumble, { do: "stop" }] }, ["failed"], false),
  );
  simulate(
    "that hangs can be interrupted at any moment",
    { count: 40, full: 200 },
    oneTurn({ steps: [mumble, { do: "hang" }] }, ["interrupted"], true),
  );
  simulate(
    "that answers may be interrupted at any moment",
    { count: 40, full: 200 },
    oneTurn({ steps: [mumble, { do: "say", pieces: ["a", "b", "c"] }] }, ["interrupted", "completed"], true),
  );
  simulate(
    "that goes on after an interrupt is not heard any more",
    { count: 40, full: 200 },
    oneTurn(
      { steps: [{ do: "pause", ms: 10 }, mumble, { do: "say", pieces: ["late", "r"] }], ignoresAbort: true },
      ["interrupted", "completed"],
      true,
    ),
  );
  simulate(
    "that hangs and cannot be stopped does not keep a host from closing",
    { count: 20, full: 100 },
    oneTurn({ steps: [mumble, { do: "hang" }], ignoresAbort: true }, ["interrupted"], true),
  );
});
