import { describe, expect, it } from "vitest";
import { NoAnswerError, Peer, type PeerEvents, RpcError } from "./json-rpc-peer.ts";

function open(events: PeerEvents = {}) {
  const sent: Record<string, unknown>[] = [];
  const timers: { ms: number; run: () => void; cancelled: boolean }[] = [];
  const peer = new Peer((text) => sent.push(JSON.parse(text) as Record<string, unknown>), events, {
    after(ms, run) {
      const timer = { ms, run, cancelled: false };
      timers.push(timer);
      return () => {
        timer.cancelled = true;
      };
    },
  });
  const receive = (message: unknown) => peer.receive(JSON.stringify(message));
  return { peer, sent, timers, receive };
}

describe("requests", () => {
  it("get the answer with their id, in any order of answers", async () => {
    const { peer, sent, receive } = open();
    const one = peer.request("a", { x: 1 });
    const two = peer.request("b");
    expect(sent).toEqual([
      { id: 1, method: "a", params: { x: 1 } },
      { id: 2, method: "b" },
    ]);
    receive({ id: 2, result: "two" });
    receive({ id: 1, result: null });
    expect(await Promise.all([one, two])).toEqual([null, "two"]);
  });

  it("reject with the code, message and data of an error", async () => {
    const { peer, receive } = open();
    const asked = peer.request("a");
    receive({ id: 1, error: { code: -32001, message: "busy", data: { retryable: true } } });
    const error = await asked.catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({ code: -32001, message: "busy", data: { retryable: true } });
  });

  it("reject with a readable message when the error reply is malformed", async () => {
    const { peer, receive } = open();
    const asked = [peer.request("a"), peer.request("a")];
    receive({ id: 1, error: "bad" });
    receive({ id: 2, error: {} });
    for (const one of asked) await expect(one).rejects.toMatchObject({ name: "RpcError", code: -32603 });
  });

  it("reject with the method and the reason when the connection closes", async () => {
    const { peer, sent } = open();
    const asked = [peer.request("a"), peer.request("b")];
    peer.closed("the server went away");
    peer.closed("again");
    for (const [at, one] of asked.entries()) {
      const error = await one.catch((cause: unknown) => cause);
      expect(error).toBeInstanceOf(NoAnswerError);
      expect(error).toMatchObject({ reason: "closed", message: `${"ab"[at]}: the server went away` });
    }
    await expect(peer.request("late")).rejects.toMatchObject({ reason: "closed" });
    peer.notify("late");
    expect(sent).toHaveLength(2);
  });

  it("time out, and leave no timer behind when they are answered", async () => {
    const { peer, timers, receive } = open();
    const slow = peer.request("slow", {}, { timeoutMs: 50 });
    timers[0]!.run();
    await expect(slow).rejects.toMatchObject({ reason: "timedOut", message: "slow: no answer within 50 ms" });
    receive({ id: 1, result: "late" });

    const fast = peer.request("fast", {}, { timeoutMs: 50 });
    receive({ id: 2, result: "in time" });
    expect(await fast).toBe("in time");
    expect(timers[1]!.cancelled).toBe(true);
  });

  it("stop waiting when their signal aborts, and are not sent with an aborted signal", async () => {
    const { peer, sent, receive } = open();
    const stop = new AbortController();
    const asked = peer.request("a", {}, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
    receive({ id: 1, result: "late" });
    await expect(peer.request("b", {}, { signal: stop.signal })).rejects.toThrow("enough");
    expect(sent).toHaveLength(1);
  });
});

describe("a message of the other side", () => {
  it("is passed on as a notification", () => {
    const told: unknown[] = [];
    const { receive } = open({ notification: (...what) => told.push(what) });
    receive({ method: "a", params: { x: 1 } });
    receive({ jsonrpc: "2.0", method: "b" });
    expect(told).toEqual([
      ["a", { x: 1 }],
      ["b", undefined],
    ]);
  });

  it("is answered with its id, a string or a number", async () => {
    const { sent, receive } = open({ request: async (method, params) => ({ method, params }) });
    receive({ id: "7", method: "ask", params: [1] });
    receive({ id: 7, method: "ask" });
    await settled();
    expect(sent).toEqual([
      { id: "7", result: { method: "ask", params: [1] } },
      { id: 7, result: { method: "ask" } },
    ]);
  });

  it("gets an error reply when its handler throws, or when there is none", async () => {
    const served = open({
      request(method) {
        if (method === "known") throw new RpcError(-5, "no", { why: "because" });
        throw new Error("broken");
      },
    });
    served.receive({ id: 1, method: "known" });
    served.receive({ id: 2, method: "other" });
    await settled();
    expect(served.sent).toEqual([
      { id: 1, error: { code: -5, message: "no", data: { why: "because" } } },
      { id: 2, error: { code: -32603, message: "broken" } },
    ]);
    const unserved = open();
    unserved.receive({ id: 1, method: "ask" });
    expect(unserved.sent).toMatchObject([{ id: 1, error: { code: -32601 } }]);
  });

  it("is not answered after it was withdrawn or the connection closed, and its handler is aborted", async () => {
    const signals: AbortSignal[] = [];
    const answers: (() => void)[] = [];
    const { peer, sent, receive } = open({
      request(_method, _params, signal) {
        signals.push(signal);
        return new Promise<void>((resolve) => answers.push(resolve));
      },
    });
    receive({ id: 1, method: "ask" });
    receive({ id: 2, method: "ask" });
    peer.withdraw(1);
    peer.withdraw(99);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
    peer.closed();
    expect(signals[1]!.aborted).toBe(true);
    for (const answer of answers) answer();
    await settled();
    expect(sent).toEqual([]);
  });

  it("is answered once when it is sent again with the same id", async () => {
    const answers: ((value: string) => void)[] = [];
    const { sent, receive } = open({
      request: () => new Promise<string>((resolve) => answers.push(resolve)),
    });
    receive({ id: 1, method: "ask" });
    receive({ id: 1, method: "ask" });
    answers[0]!("old");
    answers[1]!("new");
    await settled();
    expect(sent).toEqual([{ id: 1, result: "new" }]);
  });

  it("may be invalid without effect", async () => {
    const problems: string[] = [];
    const { peer, sent, receive } = open({ unexpected: (problem) => problems.push(problem) });
    const asked = peer.request("a");
    for (const text of ["", "{", "null", "[]", "3", '"x"']) peer.receive(text);
    receive({ id: 99, result: 1 });
    receive({ id: null, error: { code: -32700, message: "bad" } });
    receive({ id: { x: 1 }, method: "ask" });
    receive({});
    expect(problems).toHaveLength(10);
    receive({ id: 1, result: "still here" });
    expect(await asked).toBe("still here");
    expect(sent).toHaveLength(1);
  });
});

const settled = () => new Promise(setImmediate);
