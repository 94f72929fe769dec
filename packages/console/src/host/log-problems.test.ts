import { expect, it } from "vitest";
import { logProblems } from "./log-problems.ts";

it("shows a line of the log with its fields, and links its thread", () => {
  const cause = { message: "disk full", stack: "Error: disk full\n  at x" };
  const fields = { threadId: "t1", cause, stack: "y", count: 2, long: "z".repeat(600) };
  const [problem] = logProblems([{ time: 5, level: "error", message: "a write failed", fields }]);
  expect(problem).toMatchObject({ atMs: 5, threadId: "t1" });
  expect(problem!.text).toBe(
    `Error: a write failed · cause: disk full · count: 2 · long: ${"z".repeat(500)} …`,
  );
});

it("gives lines of the same moment different keys", () => {
  const line = { time: 5, level: "warn" as const, message: "x", fields: {} };
  const keys = logProblems([line, line]).map(({ key }) => key);
  expect(new Set(keys).size).toBe(2);
});
