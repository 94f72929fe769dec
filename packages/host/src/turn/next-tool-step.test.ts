import { afterEach, describe, expect, it } from "vitest";
import type { CallEffect } from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import type { Tool } from "../tool/tool.ts";
import { Toolbox } from "../tool/toolbox.ts";
import { nextStep } from "./next-tool-step.ts";

const never = new AbortController().signal;
const thread = { turn: null } as unknown as ThreadState;

function tool(via: string): Tool {
  return {
    name: "look",
    namespace: null,
    spec: null,
    via,
    begin: () => ({ kind: "dispatch", again: true }),
    perform: async () => ({ kind: "wait", until: null }),
    late: (_, acknowledged) => ({
      kind: "settle",
      output: acknowledged ? "late" : "late, and perhaps never there",
      success: false,
    }),
  };
}

/** What the thread's journal says of the claim. */
const held = { isHeld: async () => isHeld };
let isHeld = true;
afterEach(() => {
  isHeld = true;
});

function step(stage: CallEffect["stage"], ...tools: readonly Tool[]) {
  const call = { kind: "function", callId: "c", name: "look", namespace: null, arguments: "{}" };
  const effect = { turnId: "t", call, stage } as unknown as CallEffect;
  return nextStep(new Toolbox([{ tools: () => tools }]), effect, thread, 0, never, () => {}, held);
}

const SENT = { kind: "dispatched", again: true, via: "desk" } as const;
const WAITING = { kind: "waiting", until: 0, via: "desk" } as const;

describe("the next step of a call", () => {
  it("is the tool's to say, and names the server that it goes to", async () => {
    expect(await step({ kind: "proposed" }, tool("desk"))).toEqual({
      kind: "dispatch",
      again: true,
      via: "desk",
    });
    expect(await step(SENT, tool("desk"))).toEqual({ kind: "wait", until: null });
    expect(await step(WAITING, tool("desk"))).toMatchObject({ output: "late" });
    const unacknowledged = { ...WAITING, unacknowledged: true } as const;
    expect(await step(unacknowledged, tool("desk"))).toMatchObject({
      output: "late, and perhaps never there",
    });
  });

  it("tells the model what is known of a call whose tool is gone", async () => {
    expect(await step({ kind: "proposed" })).toMatchObject({ output: "There is no tool named look." });
    expect(await step(SENT)).toMatchObject({ output: expect.stringMatching(/whether it had its effect/) });
    expect(await step(WAITING)).toMatchObject({ output: "The tool did not answer in time." });
    expect(await step({ ...WAITING, unacknowledged: true })).toMatchObject({
      output: expect.stringMatching(/whether it had its effect/),
    });
  });

  it("never hands a call that was sent to one server to another one that has the name now", async () => {
    expect(await step(SENT, tool("mail"))).toMatchObject({
      kind: "settle",
      output: expect.stringMatching(/whether it had its effect/),
    });
  });

  it("[DAMAGE-3] is not said upon an answer that its question does not take", async () => {
    const seen: unknown[] = [];
    const asking: Tool = {
      ...tool("desk"),
      heard: (_, __, answer) => {
        seen.push(answer);
        return { kind: "wait", until: null };
      },
    };
    const heard = { kind: "heard", method: "item/tool/call" } as const;
    const right = { kind: "result", result: { contentItems: [], success: true } } as const;
    await step({ ...heard, answer: right }, asking);
    await step({ ...heard, answer: { kind: "result", result: null } }, asking);
    expect(seen).toEqual([right, { kind: "failed", message: expect.stringMatching(/cannot be read/) }]);
  });
});

describe("a call that was dispatched", () => {
  it("is performed by the host that has the thread, and by no other", async () => {
    expect(await step(SENT, tool("desk"))).toMatchObject({ kind: "wait" });
    isHeld = false;
    await expect(step(SENT, tool("desk"))).rejects.toThrow("given up");
  });
});
