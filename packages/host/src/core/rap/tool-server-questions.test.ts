import { describe, expect, it } from "vitest";
import { after, decided, newThread, refusal } from "../../../../../test/support/test-thread.ts";
import {
  askToChoose,
  LATE_CALL,
  OUTSIDE_CALL,
  waitingFor,
  withRap,
} from "../../../../../test/support/tool-server-thread.ts";
import type { Command } from "../commands.ts";
import { checkpointOf } from "../life/make-checkpoint.ts";
import { problemOf } from "../record-problem.ts";
import type { ThreadState } from "../state.ts";
import type { RapCommand } from "./commands.ts";
import { callOf } from "./tool-server-questions.ts";

const askOAuth = (requestId: number, callId = "c"): RapCommand => ({
  kind: "askOAuth",
  at: 7,
  load: newThread().loadEpoch,
  callId,
  requestId,
});
const answer = (requestId: number, ...answers: readonly string[]): Command => ({
  kind: "answer",
  at: 8,
  requestId,
  answer: { kind: "result", result: { answers: { choice: { answers } } } },
});
const item = {
  type: "mcpToolCall",
  id: "c",
  server: "front desk",
  tool: "deploy",
  status: "inProgress",
  startedAtMs: 3,
};
/** A turn whose calls `c` and `d` wait, and a deferred call. */
const waiting = withRap({ late: [{ ...LATE_CALL, callId: "late" }] }, waitingFor(["c", "d"]));

describe("the call that a tool server works on", () => {
  it("is one of the running turn, or a deferred one", () => {
    const args = '{"to":"prod"}';
    expect(callOf(waiting, "d")).toEqual({
      turnId: "turn-1",
      call: { callId: "d", server: "deploy", via: "desk", tool: "deploy", args },
    });
    const late = { ...LATE_CALL, callId: "late" };
    expect(callOf(waiting, "late")).toEqual({ turnId: "turn-0", call: late });
    expect(callOf({ ...waiting, turn: null }, "late")).toEqual({ turnId: "turn-0", call: late });
    expect(callOf(waiting, "unknown")).toBeUndefined();
    expect(callOf({ ...waiting, turn: null }, "c")).toBeUndefined();
  });

  it("has the server's name from its item", () => {
    const shown = waitingFor(["c"], { item });
    expect(callOf(shown, "c")?.call.server).toBe("front desk");
    const other = { ...shown, turn: { ...shown.turn!, open: [{ ...shown.turn!.open[0]!, id: "x" }] } };
    expect(callOf(other as ThreadState, "c")?.call.server).toBe("deploy");
  });
});

describe("a choice", () => {
  it("is asked of the user as one question with the choices, and nothing else can be said", () => {
    const { records } = decided(waiting, askToChoose(5));
    expect(records.filter(({ type }) => type === "requestSent")).toEqual([
      {
        type: "requestSent",
        request: {
          method: "item/tool/requestUserInput",
          id: 5,
          at: 6,
          turnId: "turn-1",
          callId: "c",
          aside: {
            kind: "choice",
            server: "desk",
            responseUrl: "https://desk/answer",
            choices: ["yes", "no"],
            fallback: 1,
            key: "choice c 5",
          },
          params: {
            threadId: "t",
            turnId: "turn-1",
            itemId: "c",
            questions: [
              {
                id: "choice",
                header: "deploy",
                question: "Go on?",
                options: [
                  { label: "yes", description: "" },
                  { label: "no", description: "" },
                ],
                isOther: false,
                isSecret: false,
              },
            ],
            isBlocking: true,
            autoResolutionMs: null,
          },
        },
      },
    ]);
  });

  it("is not asked for a call that has ended, nor twice", () => {
    expect(decided(waiting, askToChoose(5, { callId: "unknown" })).records).toEqual([]);
    const asked = after(waiting, askToChoose(5));
    expect(decided(asked, askToChoose(6, { key: "choice c 5" })).records).toEqual([]);
    expect(decided(asked, askToChoose(6)).records).not.toEqual([]);
    const answered = after(asked, answer(5, "yes"));
    expect(decided(answered, askToChoose(6, { key: "choice c 5" })).records).toEqual([]);
  });

  it.each([
    ["the first choice", ["yes"], 0],
    ["the second choice", ["no"], 1],
    ["the fallback for another text", ["perhaps"], 1],
    ["the fallback for no text", [], 1],
  ])("is made: %s", (_, answers, selected) => {
    const { records } = decided(after(waiting, askToChoose(5)), answer(5, ...answers));
    expect(records.find(({ type }) => type === "requestResolved")).not.toHaveProperty("sealed");
    expect(records.filter(({ type }) => type === "choiceMade")).toEqual([
      {
        type: "choiceMade",
        at: 8,
        choice: {
          requestId: 5,
          callId: "c",
          server: "desk",
          responseUrl: "https://desk/answer",
          key: "choice c 5",
          selected,
        },
      },
    ]);
  });

  it("counts with those whose answers were not delivered, per call", () => {
    let state = waiting;
    for (let id = 1; id <= 16; id++) state = after(state, askToChoose(id));
    expect(refusal(state, askToChoose(17))).toBe("overloaded");
    state = after(state, answer(1, "yes"));
    expect(refusal(state, askToChoose(17))).toBe("overloaded");
    expect(refusal(state, askToChoose(17, { callId: "d" }))).toBeNull();
    state = after(state, { kind: "choicePosted", at: 9, requestId: 1 });
    expect(refusal(state, askToChoose(17))).toBeNull();
  });

  it("is delivered once, whichever others wait, and not before it is made", () => {
    const choice = { requestId: 1, callId: "c", server: "desk", responseUrl: "https://desk", selected: 0 };
    const state = withRap({ late: [LATE_CALL], choices: [choice, { ...choice, requestId: 2 }] });
    const posted = { kind: "choicePosted", at: 9, requestId: 2 } as const;
    expect(decided(state, posted).records).toEqual([{ type: "choicePosted", at: 9, requestId: 2 }]);
    expect(decided(state, { ...posted, requestId: 3 }).records).toEqual([]);
    const later = after(state, { kind: "choiceDelayed", at: 9, requestId: 2, until: 70 });
    expect(later.rap.choices).toEqual([choice, { ...choice, requestId: 2, until: 70, delays: 1 }]);
    const again = after(later, { kind: "choiceDelayed", at: 9, requestId: 2, until: 80 });
    expect(again.rap.choices[1]).toEqual({ ...choice, requestId: 2, until: 80, delays: 2 });
    expect(decided(state, { kind: "choiceDelayed", at: 9, requestId: 3, until: 70 }).records).toEqual([]);
  });

  it("is in a checkpoint with all of its fields", () => {
    const choice = { requestId: 1, callId: "c", server: "desk", responseUrl: "https://desk", selected: 0 };
    const saved = () => structuredClone(checkpointOf(withRap({ choices: [choice] })));
    expect(problemOf(saved())).toBeUndefined();
    for (const name of Object.keys(choice)) {
      const damaged = saved();
      delete (damaged.state.rap.choices[0] as unknown as Record<string, unknown>)[name];
      expect(problemOf(damaged), name).toBeTypeOf("string");
    }
  });
});

describe("an authorization", () => {
  it("is asked of the user, with a note for the model and without the URL", () => {
    const { records } = decided(withRap({}, waitingFor(["c"], { item })), askOAuth(5));
    expect(records.filter(({ type }) => type !== "statusChanged")).toEqual([
      {
        type: "requestSent",
        request: {
          method: "mcpServer/elicitation/request",
          id: 5,
          at: 7,
          turnId: "turn-1",
          callId: "c",
          aside: { kind: "oauth" },
          params: {
            threadId: "t",
            turnId: "turn-1",
            serverName: "front desk",
            mode: "url",
            elicitationId: "c-5",
            message: "front desk needs your authorization to go on with deploy.",
            url: "",
            _meta: null,
          },
        },
      },
      {
        type: "callNoted",
        turnId: "turn-1",
        at: 7,
        text: expect.stringContaining("deploy needs the user's"),
      },
    ]);
    expect(decided(waiting, askOAuth(5, "unknown")).records).toEqual([]);
  });

  it("takes the place of an earlier one of the same call, and of nothing else", () => {
    const asked = after(waiting, askOAuth(5), askOAuth(6, "d"), askToChoose(7));
    const { records, state } = decided(asked, askOAuth(8));
    const types = records.map(({ type }) => type).filter((type) => type !== "statusChanged");
    expect(types).toEqual(["requestResolved", "requestSent"]);
    // The URL, which is stored outside of the journal, is deleted with the request.
    expect(records.find(({ type }) => type === "requestResolved")).toEqual({
      type: "requestResolved",
      at: 7,
      requestId: 5,
      answer: { kind: "cleared" },
      sealed: true,
    });
    expect(state.requests.map(({ id }) => id)).toEqual([6, 7, 8]);
  });

  it("is asked of a call that has other questions with a note, too", () => {
    const types = decided(after(waiting, askToChoose(5)), askOAuth(6)).records.map(({ type }) => type);
    expect(types).toContain("callNoted");
    expect(types).not.toContain("requestResolved");
  });
});

describe("requests after the end of a turn", () => {
  it("stay open if their call was deferred, and are withdrawn otherwise", () => {
    const state = withRap({ late: [{ ...LATE_CALL, ...OUTSIDE_CALL, callId: "late" }] }, waitingFor(["c"]));
    const asked = after(state, askToChoose(5), askToChoose(6, { callId: "late" }));
    const ended = after(asked, { kind: "interrupt", at: 9, turnId: "turn-1" });
    expect(ended.requests.map(({ id }) => id)).toEqual([6]);
  });
});
