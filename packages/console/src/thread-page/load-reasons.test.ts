import { expect, it } from "vitest";
import { loadReasons, loadSummary, loadText } from "./load-reasons.ts";

const IDLE = {
  threadId: "t",
  resident: true,
  subscribers: 0,
  turnId: null,
  pendingRequests: 0,
  pendingCalls: 0,
  descendants: 0,
  unloadsInMs: null,
  memoryBytes: 2048,
};

it.each([
  [{}, ["nothing keeps it"]],
  [{ subscribers: 1 }, ["1 client follows it"]],
  [{ toolServerSubscriptions: 1 }, ["1 tool server subscription"]],
  [{ toolServerSubscriptions: 2 }, ["2 tool server subscriptions"]],
  [{ isOpenHelper: true }, ["its parent has not closed it"]],
  [{ workDue: true }, ["work is due"]],
  [
    { unloadsInMs: 90_000, resident: false },
    ["it is unloaded in 1 min 30 s", "its memory was freed until it is used"],
  ],
  [
    { turnId: "u", pendingRequests: 2, pendingCalls: 1, descendants: 1, subscribers: 3 },
    ["a turn runs", "2 questions wait", "1 tool call runs", "1 helper works", "3 clients follow it"],
  ],
])("says why a thread is loaded: %j", (more, reasons) => {
  expect(loadReasons({ ...IDLE, ...more })).toEqual(reasons);
});

it("names the memory that a loaded thread takes, if the host knows it", () => {
  expect(loadText({ ...IDLE, subscribers: 1 })).toBe(
    "Loaded: 1 client follows it. It takes about 2.0 KiB of memory.",
  );
  expect(loadText({ ...IDLE, memoryBytes: null })).toBe("Loaded: nothing keeps it.");
  expect(loadSummary({ ...IDLE, subscribers: 2 })).toBe("2 clients follow it · about 2.0 KiB");
  expect(loadSummary({ ...IDLE, memoryBytes: null })).toBe("nothing keeps it");
});
