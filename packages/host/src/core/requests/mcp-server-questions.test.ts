import { describe, expect, it } from "vitest";
import { after, decided, newThread, ONE_TOKEN, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { TurnCommand } from "../turn/commands.ts";
import { runningCalls } from "../turn/phase.ts";
import type { ServerQuestionCommand } from "./commands.ts";

const TURN = "turn-1";
type AskForServer = Extract<ServerQuestionCommand, { kind: "askForServer" }>;

const calls: TurnCommand = {
  kind: "toolCalled",
  at: 2,
  turnId: TURN,
  attempt: 1,
  call: { callId: "c", name: "echo", namespace: "mcp__s", arguments: "{}", kind: "function" },
};
const runs: TurnCommand = {
  kind: "stepCall",
  at: 3,
  turnId: TURN,
  callId: "c",
  from: "proposed",
  step: { kind: "dispatch", again: false },
};
const settles: TurnCommand = {
  kind: "stepCall",
  at: 9,
  turnId: TURN,
  callId: "c",
  from: "dispatched",
  step: { kind: "settle", output: "done", success: true },
};
const interrupts: TurnCommand = { kind: "interrupt", at: 9, turnId: null };

function ask(requestId: number, more: Partial<AskForServer> = {}): AskForServer {
  return {
    kind: "askForServer",
    at: 5,
    requestId,
    callId: "c",
    direct: false,
    server: "s",
    question: {
      mode: "form",
      _meta: null,
      message: "Who?",
      requestedSchema: { type: "object", properties: {} },
    },
    sealed: false,
    grant: null,
    ...more,
  };
}

const direct = (requestId: number): AskForServer => ask(requestId, { direct: true, callId: `d${requestId}` });

function answer(requestId: number, result: object): Command {
  return { kind: "answer", at: 6, requestId, answer: { kind: "result", result } };
}

const running = (): ThreadState => after(newThread(), startTurn(), calls, runs);
const types = (records: readonly ThreadRecord[]): string[] => records.map(({ type }) => type);

describe("sampling by an MCP server", () => {
  const spent = {
    totalTokens: 7,
    inputTokens: 5,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 2,
    reasoningOutputTokens: 0,
  };
  const samples: Extract<ServerQuestionCommand, { kind: "serverSampled" }> = {
    kind: "serverSampled",
    at: 5,
    callId: "c",
    server: "s",
    usage: spent,
  };

  it("adds the tokens it used to the thread's while its call runs", () => {
    const { records, state } = decided(running(), samples);
    expect(records).toMatchObject([{ type: "serverSampled", turnId: TURN, callId: "c", server: "s", spent }]);
    expect(state.usage?.total).toEqual(spent);
  });

  it("is not counted before its call runs, after its call, or after its turn", () => {
    const proposed = after(newThread(), startTurn(), calls);
    for (const state of [newThread(), proposed, after(running(), settles), after(running(), interrupts)])
      expect(decided(state, samples).records).toEqual([]);
    expect(decided(running(), { ...samples, callId: "another" }).records).toEqual([]);
  });
});

describe("a question of an MCP server", () => {
  it("[MCPCALL-20] is asked beside its call, which stays dispatched, and ends with it", () => {
    const asked = after(running(), ask(1));
    expect(asked.requests[0]).toMatchObject({
      method: "mcpServer/elicitation/request",
      params: { threadId: "t", turnId: TURN, serverName: "s", mode: "form" },
    });
    expect(runningCalls(asked)[0]!.stage.kind).toBe("dispatched");
    expect(asked.status).toEqual({ type: "active", activeFlags: ["waitingOnApproval"] });
    const answered = after(asked, answer(1, { action: "accept", content: { name: "Bob" } }));
    expect(answered.requests).toEqual([]);
    expect(runningCalls(answered)[0]!.stage.kind).toBe("dispatched");
    for (const end of [settles, interrupts]) {
      const { records, state } = decided(asked, end);
      expect(records).toContainEqual(
        expect.objectContaining({ type: "requestResolved", requestId: 1, answer: { kind: "cleared" } }),
      );
      expect(state.requests).toEqual([]);
    }
  });

  it("[MCPCALL-20] is not asked for a call that does not run, nor too often", () => {
    expect(decided(newThread(), ask(1)).records).toEqual([]);
    expect(decided(after(newThread(), startTurn(), calls), ask(1)).records).toEqual([]);
    expect(decided(after(running(), settles), ask(1)).records).toEqual([]);
    const many = after(running(), ...[1, 2, 3, 4].map((id) => ask(id)));
    expect(decided(many, ask(5)).records).toEqual([]);
    expect(decided(many, direct(5)).records).toHaveLength(1);
    const all = after(many, ...Array.from({ length: 12 }, (_, id) => direct(10 + id)));
    expect(decided(all, direct(99)).records).toEqual([]);
    // Questions of another kind do not count.
    const others = { ...all, requests: all.requests.map((one) => ({ ...one, aside: undefined })) };
    expect(decided(others, direct(99)).records).not.toEqual([]);
  });

  it("[MCPCALL-20] can be withdrawn by its server alone", () => {
    const asked = after(running(), ask(1), ask(2));
    const { state, records } = decided(asked, { kind: "withdrawQuestion", at: 6, requestId: 1 });
    expect(types(records)).toContain("requestResolved");
    expect(state.requests.map(({ id }) => id)).toEqual([2]);
    expect(decided(state, { kind: "withdrawQuestion", at: 6, requestId: 1 }).records).toEqual([]);
  });

  it("[MCPCALL-20] goes with the host that was lost, together with the server's connection", () => {
    const asked = after(running(), ask(1), direct(2));
    for (const command of [
      { kind: "adopt", at: 7 },
      { kind: "open", at: 7, changes: {}, load: {}, docs: [] },
      { kind: "close", at: 7, reason: "lost" },
      { kind: "close", at: 7, reason: "requested" },
    ] as const)
      expect(after(asked, command).requests, command.kind).toEqual([]);
    // The call continues after the adoption, but its question was withdrawn.
    const sampled = { kind: "sampled", at: 5, turnId: TURN, attempt: 1 } as const;
    const usage = ONE_TOKEN;
    const done = after(asked, { ...sampled, outcome: { kind: "done", usage, contextWindow: null } });
    expect(after(done, { kind: "adopt", at: 7 }).requests).toEqual([]);
  });

  it("[MCPCALL-21] because of a client's own call is asked without a turn, and outlives turns", () => {
    const asked = after(newThread(), direct(1));
    expect(asked.requests[0]).toMatchObject({ params: { turnId: null }, turnId: "" });
    expect(asked.status).toEqual({ type: "active", activeFlags: ["waitingOnApproval"] });
    const ended = after(asked, startTurn(), interrupts);
    expect(ended.requests).toHaveLength(1);
    expect(ended.status.type).toBe("active");
    const { state, records } = decided(ended, answer(1, { action: "decline" }));
    expect(types(records)).toEqual(["requestResolved", "statusChanged"]);
    expect(state.status).toEqual({ type: "idle" });
  });

  it("[MCPCALL-22] holds no address, and says when what is kept of it may go", () => {
    const url = { mode: "url", _meta: null, message: "Visit", url: "", elicitationId: "e" } as const;
    const asked = after(running(), ask(1, { question: url, sealed: true }));
    expect(asked.requests[0]).toMatchObject({ params: { url: "" }, aside: { sealed: true } });
    const { records } = decided(asked, answer(1, { action: "accept" }));
    expect(records).toContainEqual(expect.objectContaining({ type: "requestResolved", sealed: true }));
  });

  it("[MCPCALL-23] grants what it may for the session, and nothing else", () => {
    const persist = { action: "accept", _meta: { persist: "session" } };
    const granted = after(running(), ask(1, { grant: "mcpSampling s" }), answer(1, persist));
    expect(granted.grants).toEqual(["mcpSampling s"]);
    expect(after(running(), ask(1), answer(1, persist)).grants).toEqual([]);
    for (const result of [{ action: "accept" }, { action: "decline", _meta: { persist: "session" } }])
      expect(after(running(), ask(1, { grant: "g" }), answer(1, result)).grants).toEqual([]);
  });
});
