import { expect, it } from "vitest";
import { after, endModelCall, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import { callTool, waitingFor } from "../../../../../test/support/tool-server-thread.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { withPendingInput } from "./pending-input.ts";

const RECORDS: readonly ThreadRecord[] = [{ type: "inputAccepted", turnId: "turn-1", messageId: "m" }];
const waiting = waitingFor(["c"]);
const proposed = after(newThread(), startTurn(), callTool("c"), endModelCall());
const withInput = (state: ThreadState): ThreadState => ({
  ...state,
  turn: { ...state.turn!, pendingInput: true },
});
const types = (records: readonly ThreadRecord[]) => records.map(({ type }) => type);

it("defers the calls of tool servers and calls the model for input that waited", () => {
  const records = withPendingInput(withInput(waiting), RECORDS, 9);
  expect(types(records)).toEqual(expect.arrayContaining(["inputAccepted", "callDeferred"]));
  expect(records[0]).toBe(RECORDS[0]);
  expect(records.at(-1)).toMatchObject({ type: "sampleRequested", turnId: "turn-1" });
});

it.each<[string, ThreadState, readonly ThreadRecord[], number | undefined]>([
  ["no turn runs", newThread(), RECORDS, 9],
  ["no input waits", waiting, RECORDS, 9],
  ["nothing was decided", withInput(waiting), [], 9],
  ["the time is unknown", withInput(waiting), RECORDS, undefined],
  ["a call is not with its tool server yet", withInput(proposed), RECORDS, 9],
])("adds nothing if %s", (_, state, records, at) => {
  expect(withPendingInput(state, records, at)).toBe(records);
});
