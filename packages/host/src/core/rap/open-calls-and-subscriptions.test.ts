import { expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import type { ThreadState } from "../state.ts";
import { countOf, openAtToolServers } from "./open-calls-and-subscriptions.ts";
import { NO_RAP, type RapState } from "./records.ts";

const subscription = (via: string) => ({ callId: `s ${via}`, server: via, via, tool: "watch", args: "{}" });
const late = (via: string) => ({ ...subscription(via), turnId: "turn-0", until: null });
const threadWith = (rap: Partial<RapState>, from = newThread()): ThreadState => ({
  ...from,
  rap: { ...NO_RAP, ...rap },
});

it("counts calls that run, calls whose results come later, and subscriptions, by their server", () => {
  const call = (callId: string): Command => ({
    kind: "toolCalled",
    at: 2,
    turnId: "turn-1",
    attempt: 1,
    call: { callId, name: "act", namespace: null, arguments: "{}", kind: "function" },
  });
  const send = (callId: string, via?: string): Command => ({
    kind: "stepCall",
    at: 3,
    turnId: "turn-1",
    callId,
    from: "proposed",
    step: { kind: "dispatch", again: false, via },
  });
  const running = after(
    newThread(),
    startTurn(),
    call("proposed"),
    call("sent"),
    call("local"),
    send("sent", "desk"),
    send("local"),
  );
  const outside = openAtToolServers(
    threadWith({ late: [late("desk"), late("shop")], subscriptions: [subscription("shop")] }, running),
  );
  expect([...outside.calls].sort()).toEqual(["", "desk", "desk", "shop"]);
  expect(outside.subscriptions).toEqual(["shop"]);
  expect(countOf(outside.calls, "desk")).toBe(2);
  expect(countOf(outside.calls, "unknown")).toBe(0);
});

it("has as many calls as subscriptions, or only one of the two", () => {
  const both = openAtToolServers(threadWith({ late: [late("a")], subscriptions: [subscription("b")] }));
  expect(both).toEqual({ calls: ["a"], subscriptions: ["b"] });
  expect(openAtToolServers(threadWith({ late: [late("a")] }))).toEqual({ calls: ["a"], subscriptions: [] });
  expect(openAtToolServers(threadWith({ subscriptions: [subscription("b")] }))).toEqual({
    calls: [],
    subscriptions: ["b"],
  });
  expect(openAtToolServers(newThread())).toEqual({ calls: [], subscriptions: [] });
});

it("looks once for each state", () => {
  const state = threadWith({ late: [late("a")] });
  expect(openAtToolServers(state)).toBe(openAtToolServers(state));
});
