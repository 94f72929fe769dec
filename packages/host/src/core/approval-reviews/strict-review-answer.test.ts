import { expect, it } from "vitest";
import { asksForStrictReview } from "./strict-review-answer.ts";

const result = (strictAutoReview: boolean | undefined, scope: "turn" | "session") =>
  ({ kind: "result", result: { permissions: {}, strictAutoReview, scope } }) as const;

it("asks for a strict review with permissions for the turn, if the person wants one", () => {
  const method = "item/permissions/requestApproval";
  expect(asksForStrictReview(method, result(true, "turn"))).toBe(true);
  expect(asksForStrictReview(method, result(false, "turn"))).toBe(false);
  expect(asksForStrictReview(method, result(undefined, "turn"))).toBe(false);
  expect(asksForStrictReview(method, result(true, "session"))).toBe(false);
  expect(asksForStrictReview(method, result(false, "session"))).toBe(false);
  expect(asksForStrictReview(method, { kind: "cleared" })).toBe(false);
  expect(asksForStrictReview("item/fileChange/requestApproval", result(true, "turn"))).toBe(false);
});
