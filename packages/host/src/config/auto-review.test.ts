import { expect, it } from "vitest";
import { readConfig } from "./config.ts";

it("takes a policy for reviews of approvals, and none if it is empty", () => {
  const policyOf = (table: Parameters<typeof readConfig>[0]) => readConfig(table).approvalReviewPolicy;
  expect(policyOf({})).toBeNull();
  expect(policyOf({ auto_review: { policy: " \n" } })).toBeNull();
  expect(policyOf({ auto_review: { policy: " Allow reads.\n" } })).toBe("Allow reads.");
});

it.each([
  [{ policy: 1 }, "auto_review.policy: expected a string, found 1"],
  [{ policy: "x".repeat(32_769) }, "auto_review.policy has more than 32768 characters"],
  ["x", "auto_review: expected a table"],
])("refuses a policy that is none (%#)", (auto_review, message) => {
  expect(() => readConfig({ auto_review })).toThrow(message);
});
