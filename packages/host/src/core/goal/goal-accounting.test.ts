import { expect, it } from "vitest";
import { statusWithin, withTime } from "./goal-accounting.ts";
import type { Goal } from "./records.ts";

const goal: Goal = {
  objective: "Do it",
  status: "active",
  tokenBudget: null,
  tokensUsed: 0,
  timeUsedSeconds: 5,
  createdAt: 0,
  updatedAt: 0,
};

it("counts whole seconds, and the rest of one later", () => {
  const first = withTime(goal, 1000, 3900);
  expect(first).toEqual({ goal: { ...goal, timeUsedSeconds: 7 }, countedUntil: 3000 });
  expect(withTime(first.goal, first.countedUntil, 4000).goal.timeUsedSeconds).toBe(8);
});

it("counts no time that nobody worked in, nor a clock that goes backwards", () => {
  expect(withTime(goal, null, 9000)).toEqual({ goal, countedUntil: null });
  expect(withTime(goal, 1000, undefined)).toEqual({ goal, countedUntil: 1000 });
  expect(withTime(goal, 9000, 1000)).toEqual({ goal, countedUntil: 9000 });
});

it("limits an active goal alone, and from its last token on", () => {
  expect(statusWithin("active", 9, 10)).toBe("active");
  expect(statusWithin("active", 10, 10)).toBe("budgetLimited");
  expect(statusWithin("paused", 10, 10)).toBe("paused");
  expect(statusWithin("active", 10, null)).toBe("active");
});
