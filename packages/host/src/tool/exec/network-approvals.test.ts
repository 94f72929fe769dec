import { beforeEach, describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import type { Commit } from "../../core/records.ts";
import type { NetworkCommand } from "../../core/requests/commands.ts";
import type { RequestAnswer } from "../../core/requests/records.ts";
import type { Verdict } from "../../sandbox/network/proxy.ts";
import type { Target } from "../../sandbox/network/proxy-request.ts";
import type { Consent } from "../consent/consent.ts";
import { type AskingCommand, NetworkApprovals } from "./network-approvals.ts";

const thread = newThread();
const A = command("a");
const B = command("b");
const target: Target = { host: "example.org", port: 443, protocol: "https" };
const ASK: Consent = {
  kind: "ask",
  reason: null,
  amendment: ["example.org"],
  grant: "g",
  runs: "sandboxed",
};

function command(itemId: string): AskingCommand {
  return { threadId: thread.facts.id, itemId, hosts: { domains: [], socks: true } };
}

let asked: Extract<NetworkCommand, { kind: "askNetwork" }>[];
let consent: Consent;
/** Whether the thread accepts questions. */
let takes: boolean;
let questions: NetworkApprovals;

beforeEach(() => {
  asked = [];
  consent = ASK;
  takes = true;
  let ids = 0;
  questions = new NetworkApprovals({
    platform: {
      clock: { now: () => 1, monotonic: () => 1 },
      ids: { uuid: () => `uuid-${++ids}`, integer: () => ++ids },
    },
    async submit(_threadId, submitted) {
      if (submitted.kind !== "askNetwork") return { state: thread, records: [] };
      asked.push(submitted);
      return { state: thread, records: takes ? [{ type: "networkRuleSaved", at: 1, requestId: 0 }] : [] };
    },
    consentToHost: async () => consent,
  });
});

/** What the thread commits when a question is answered. */
function resolve(nth: number, answer: RequestAnswer): void {
  const { requestId } = asked[nth]!;
  const commit: Commit = {
    seq: 1,
    epoch: 1,
    prev: 0,
    records: [{ type: "requestResolved", at: 1, requestId, answer }],
  };
  questions.committed(commit);
}

const result = (decision: unknown): RequestAnswer => ({ kind: "result", result: { decision } });
const settled = () => new Promise((done) => setImmediate(done));
const words = (verdict: Verdict): string => (verdict.kind === "refuse" ? verdict.words : "allowed");

describe("connections to a host", () => {
  it("[NETWORK-2] wait for one question, whichever command they are of", async () => {
    const waiting = [A, A, B, A].map((one) => questions.judge(one, target));
    await settled();
    expect(asked).toHaveLength(1);
    resolve(0, result("accept"));
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ kind: "allow" })));
  });

  it("[NETWORK-2] are asked about apart by host, port and protocol", async () => {
    const others = [
      { ...target, host: "example.net" },
      { ...target, port: 80 },
      { ...target, protocol: "http" as const },
    ];
    for (const one of [target, ...others]) void questions.judge(A, one);
    await settled();
    expect(asked).toHaveLength(4);
  });

  it("[NETWORK-2] of a command go by what was answered for it until it ends", async () => {
    const first = questions.judge(A, target);
    await settled();
    resolve(0, result("decline"));
    expect(words(await first)).toContain("the user declined it");
    expect(words(await questions.judge(A, target))).toContain("the user declined it");
    const other = questions.judge(B, target);
    await settled();
    expect(asked).toHaveLength(2);
    resolve(1, result("accept"));
    expect(await other).toEqual({ kind: "allow" });
    questions.forget(A);
    void questions.judge(command("a"), target);
    await settled();
    expect(asked).toHaveLength(3);
  });

  it("[NETWORK-4] are refused when the question is withdrawn; those of other commands ask for themselves", async () => {
    const [one, other] = [questions.judge(A, target), questions.judge(B, target)];
    await settled();
    resolve(0, { kind: "cleared" });
    expect(words(await one)).toContain("withdrawn");
    await settled();
    expect(asked.map(({ itemId }) => itemId)).toEqual(["a", "b"]);
    resolve(1, result("accept"));
    expect(await other).toEqual({ kind: "allow" });
  });

  it("[NETWORK-4] wait no longer when their command has ended, and keep nobody waiting", async () => {
    const [one, other] = [questions.judge(A, target), questions.judge(B, target)];
    await settled();
    expect(questions.waitsFor(thread.facts.id, "a")).toBeDefined();
    questions.forget(A);
    expect(words(await one)).toContain("the command has ended");
    expect(questions.waitsFor(thread.facts.id, "a")).toBeUndefined();
    resolve(0, result("accept"));
    expect(await other).toEqual({ kind: "allow" });
  });

  it("[NETWORK-4] ask nobody if their command ends before the question", async () => {
    const one = command("a");
    const verdict = questions.judge(one, target);
    questions.forget(one);
    expect(words(await verdict)).toContain("the command has ended");
    expect(asked).toEqual([]);
  });

  it.each([
    [{ kind: "expired" } as const, "nobody was there to allow it"],
    [{ kind: "failed", message: "no" } as const, "no client could ask"],
    [result("nonsense"), "the user declined it"],
    [result(null), "the user declined it"],
  ])("are refused after %j", async (answer, because) => {
    const one = questions.judge(A, target);
    await settled();
    resolve(0, answer);
    expect(words(await one)).toContain(because);
  });

  it("are refused where nobody can be asked, and asked about at the next try", async () => {
    takes = false;
    expect(words(await questions.judge(A, target))).toContain("while no turn runs");
    takes = true;
    void questions.judge(A, target);
    await settled();
    expect(asked).toHaveLength(2);
  });

  it("are refused beyond 256 that wait for one answer", async () => {
    const waiting = Array.from({ length: 256 }, () => questions.judge(A, target));
    await settled();
    expect(words(await questions.judge(A, target))).toContain("too many connections");
    resolve(0, result("accept"));
    expect(await Promise.all(waiting)).toHaveLength(256);
  });

  it("need no question where consent is there already, or refused", async () => {
    consent = { kind: "sandboxed" };
    expect(await questions.judge(A, target)).toEqual({ kind: "allow" });
    consent = { kind: "refuse", reason: "No." };
    expect(await questions.judge(A, target)).toEqual({ kind: "refuse", words: "No." });
    expect(asked).toEqual([]);
  });
});
