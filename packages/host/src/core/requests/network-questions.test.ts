import { describe, expect, it } from "vitest";
import { after, decided, newThread, ONE_TOKEN, startTurn } from "../../../../../test/support/test-thread.ts";
import { next } from "../next.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { CommandItem } from "../terminals/records.ts";
import type { TurnCommand } from "../turn/commands.ts";
import { outlives } from "../turn/dead-host-recovery.ts";
import type { NetworkCommand } from "./commands.ts";
import { isAbout } from "./network-questions.ts";

const TURN = "turn-1";

const item: CommandItem = {
  type: "commandExecution",
  id: "c",
  command: "curl",
  cwd: "/work",
  processId: "1",
  source: "unifiedExecStartup",
  status: "inProgress",
  commandActions: [],
  aggregatedOutput: null,
  exitCode: null,
  durationMs: null,
  pluginId: null,
  scriptPath: null,
  startedAtMs: 3,
  completedAtMs: null,
};
const calls: TurnCommand = {
  kind: "toolCalled",
  at: 2,
  turnId: TURN,
  attempt: 1,
  call: { callId: "c", name: "exec_command", namespace: null, arguments: "{}", kind: "function" },
};
const runs: TurnCommand = {
  kind: "stepCall",
  at: 3,
  turnId: TURN,
  callId: "c",
  from: "proposed",
  step: { kind: "dispatch", again: false, plan: {}, item },
};
const left: TurnCommand = {
  kind: "stepCall",
  at: 4,
  turnId: TURN,
  callId: "c",
  from: "dispatched",
  step: { kind: "settle", output: "", success: true, left: { processId: "1", outside: false } },
};
const usage = ONE_TOKEN;
const spoken = (attempt: number): TurnCommand => ({
  kind: "sampled",
  at: 5,
  turnId: TURN,
  attempt,
  outcome: { kind: "done", usage, contextWindow: null },
});

function ask(requestId: number, more: Partial<Extract<NetworkCommand, { kind: "askNetwork" }>> = {}) {
  return {
    kind: "askNetwork",
    at: 6,
    requestId,
    reviewId: `review-${requestId}`,
    itemId: "c",
    host: `h${requestId}.example`,
    port: 443,
    protocol: "https",
    grant: `network https h${requestId}.example:443`,
    forGood: true,
    reason: null,
    ...more,
  } as const;
}

const answer = (requestId: number, decision: unknown): TurnCommand => ({
  kind: "answer",
  at: 7,
  requestId,
  answer: { kind: "result", result: { decision } },
});
const amend = (host: string, action: string): object => ({
  applyNetworkPolicyAmendment: { network_policy_amendment: { host, action } },
});

const types = (records: readonly ThreadRecord[]): readonly string[] =>
  records.map(({ type }) => type).filter((type) => type !== "statusChanged");
const running = (): ThreadState => after(newThread(), startTurn(), calls, runs);

describe("a question about a host", () => {
  it("[NETWORK-2] is asked once, also when the same is wanted with another id", () => {
    const state = after(running(), ask(1));
    expect(state.requests).toHaveLength(1);
    expect(decided(state, ask(2, { host: "h1.example" })).records).toEqual([]);
    expect(types(decided(state, ask(2, { host: "h1.example", port: 80 })).records)).toEqual(["requestSent"]);
    expect(types(decided(state, ask(2, { host: "h1.example", protocol: "http" })).records)).toEqual([
      "requestSent",
    ]);
  });

  it("[NETWORK-2] is not asked beyond eight, until one is answered", () => {
    const asked = [1, 2, 3, 4, 5, 6, 7, 8].map((id) => ask(id));
    const full = after(running(), ...asked);
    expect(decided(full, ask(9)).records).toEqual([]);
    expect(types(decided(after(full, answer(3, "decline")), ask(9)).records)).toEqual(["requestSent"]);
  });

  it("[NETWORK-2] can be decided for good, and only if that can be saved", () => {
    const params = (forGood: boolean) => {
      const [record] = decided(running(), ask(1, { forGood })).records.filter(
        ({ type }) => type === "requestSent",
      );
      return (record as unknown as { request: { params: object } }).request.params;
    };
    const amendments = ["allow", "deny"].map((action) => ({ host: "h1.example", action }));
    const [allow, deny] = amendments.map(({ host, action }) => amend(host, action));
    expect(params(true)).toMatchObject({
      proposedNetworkPolicyAmendments: amendments,
      availableDecisions: ["accept", "acceptForSession", allow, deny, "decline", "cancel"],
    });
    expect(params(false)).toMatchObject({
      availableDecisions: ["accept", "acceptForSession", "decline", "cancel"],
    });
    expect(params(false)).not.toHaveProperty("proposedNetworkPolicyAmendments");
  });

  it("[NETWORK-2] is about its host, port and protocol, and a question of another kind about none", () => {
    const target = { host: "h1.example", port: 443, protocol: "https" } as const;
    const [request] = after(running(), ask(1)).requests;
    expect(isAbout(request!, target)).toBe(true);
    for (const other of [{ host: "h2.example" }, { port: 80 }, { protocol: "http" } as const])
      expect(isAbout(request!, { ...target, ...other })).toBe(false);
    expect(isAbout({ aside: undefined }, target)).toBe(false);
    expect(isAbout({ aside: { kind: "oauth" } }, target)).toBe(false);
  });

  it("[NETWORK-2] is asked however many questions of another kind are open", () => {
    const others = Array.from({ length: 8 }, (_, nth) => ({
      ...after(running(), ask(1)).requests[0]!,
      id: 100 + nth,
    }));
    const state = { ...running(), requests: others.map((request) => ({ ...request, aside: undefined })) };
    expect(types(decided(state, ask(1)).records)).toEqual(["requestSent"]);
  });

  it("[NETWORK-4] is asked for a command that runs in a turn, and for no other", () => {
    expect(decided(running(), ask(1, { itemId: "other" })).records).toEqual([]);
    expect(decided(after(newThread(), startTurn(), calls), ask(1)).records).toEqual([]);
    const over = after(running(), left, spoken(1), spoken(2));
    expect(over.turn).toBe(null);
    expect(decided(over, ask(1)).records).toEqual([]);
    expect(decided(after(over, startTurn("turn-2")), ask(1)).records).toMatchObject([
      { type: "statusChanged" },
      { type: "requestSent", request: { turnId: "turn-2", callId: "c" } },
    ]);
  });

  it("[NETWORK-4] goes on when its command is left running, and ends with the turn", () => {
    const state = after(running(), ask(1), left, spoken(1));
    expect(state.requests).toHaveLength(1);
    expect(types(decided(state, spoken(2)).records)).toEqual([
      "usageReported",
      "requestResolved",
      "turnEnded",
    ]);
  });

  it("[NETWORK-4] ends with a turn that only makes the conversation shorter", () => {
    const over = after(
      running(),
      left,
      spoken(1),
      spoken(2),
      { kind: "compact", at: 6, turnId: "turn-2" },
      ask(1),
    );
    expect(over.requests).toHaveLength(1);
    const outcome = {
      kind: "done",
      summary: "s",
      kept: [],
      contextTokens: 1,
      usage,
      contextWindow: null,
    } as const;
    const { attempt } = over.turn!;
    const { records } = decided(over, { kind: "summarised", at: 7, turnId: "turn-2", attempt, outcome });
    expect(types(records).slice(-2)).toEqual(["requestResolved", "turnEnded"]);
  });

  it("[NETWORK-4] ends with its command, before the command's item", () => {
    const state = after(running(), ask(1), left);
    const end = { exitCode: 0, output: "" };
    expect(types(decided(state, { kind: "endCommand", at: 8, itemId: "c", end }).records)).toEqual([
      "requestResolved",
      "terminalEnded",
    ]);
  });

  it("[NETWORK-4] ends the turn when it is cancelled", () => {
    const { records, state } = decided(after(running(), ask(1), ask(2)), answer(1, "cancel"));
    expect(types(records)).toEqual([
      "requestResolved",
      "requestResolved",
      "itemCompleted",
      "callCancelled",
      "turnEnded",
    ]);
    expect(state.requests).toEqual([]);
  });

  it("[NETWORK-4] is lost with its host, and nobody is asked again", () => {
    const state = after(running(), ask(1), { kind: "adopt", at: 9 });
    expect(state.requests).toEqual([]);
  });

  it("[NETWORK-3] grants for the session, or is decided for good", () => {
    const state = after(running(), ask(1));
    expect(after(state, answer(1, "accept")).grants).toEqual([]);
    expect(after(state, answer(1, "acceptForSession")).grants).toEqual(["network https h1.example:443"]);
    const decidedFor = after(state, answer(1, amend("h1.example", "deny")));
    const rule = { requestId: 1, host: "h1.example", protocol: "https", decision: "deny" } as const;
    expect(decidedFor.networkRules).toEqual([rule]);
    expect(next(decidedFor)).toContainEqual({ key: "network rule 1", kind: "networkRule", rule });
    expect(after(decidedFor, { kind: "networkRuleSaved", at: 8, requestId: 1 }).networkRules).toEqual([]);
    const two = { ...decidedFor, networkRules: [rule, { ...rule, requestId: 2 }] };
    expect(after(two, { kind: "networkRuleSaved", at: 8, requestId: 2 }).networkRules).toEqual([rule]);
    expect(decided(two, { kind: "networkRuleSaved", at: 8, requestId: 3 }).records).toEqual([]);
  });

  it("[NETWORK-3] is not decided for good about another host, nor where that was not offered", () => {
    const other = after(running(), ask(1), answer(1, amend("evil.example", "allow")));
    expect(other.networkRules).toEqual([]);
    const notOffered = after(running(), ask(1, { forGood: false }));
    expect(notOffered.requests[0]?.params).not.toHaveProperty("proposedNetworkPolicyAmendments");
    expect(after(notOffered, answer(1, amend("h1.example", "allow"))).networkRules).toEqual([]);
  });

  it("[NETWORK-3] keeps its thread alive until its rule is saved", () => {
    const state = after(running(), ask(1), answer(1, amend("h1.example", "allow")), {
      kind: "interrupt",
      at: 8,
      turnId: null,
    });
    expect(outlives(state)).toBe(true);
    const saved = after(state, { kind: "networkRuleSaved", at: 9, requestId: 1 });
    expect(outlives(saved)).toBe(false);
    // If the thread is unloaded before, the rule is saved at the next load.
    expect(after(state, { kind: "close", at: 9, reason: "requested" }).networkRules).toHaveLength(1);
  });
});
