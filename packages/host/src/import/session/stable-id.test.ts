import { expect, it } from "vitest";
import { isThreadId, stableId, timeOfId } from "./stable-id.ts";

const WHEN = Date.UTC(2026, 9, 1, 10);

it("gives the same id for the same session, in every process", () => {
  expect(stableId(WHEN, "claude", "one")).toBe("01a0f6e8-1500-7905-930c-fbe44dad869a");
});

it("gives another id for another session, another name, and names that are put together otherwise", () => {
  const ids = [
    stableId(WHEN, "claude", "one"),
    stableId(WHEN, "claude", "two"),
    stableId(WHEN, "codex", "one"),
    stableId(WHEN, "claudeone"),
    stableId(WHEN + 1, "claude", "one"),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(isThreadId(id), id).toBe(true);
  expect(timeOfId(ids[0]!)).toBe(WHEN);
});

it("takes no id for a thread's whose time is none", () => {
  expect(isThreadId("5973b6c0-94b8-487b-a530-2aeb6098ae0e")).toBe(false);
  expect(isThreadId("ffffffff-ffff-7fff-8fff-ffffffffffff")).toBe(false);
  expect(isThreadId("00000000-0000-7000-8000-000000000000")).toBe(false);
});
