import { expect, it } from "vitest";
import { readRequiredRules } from "./rule-requirements.ts";

const RULE = { pattern: [{ token: "rm" }, { any_of: ["-r", "-f"] }], decision: "forbidden" };
const of = (...rules: readonly unknown[]) => ({ rules: { prefix_rules: rules } });

it("reads words and alternatives", () => {
  expect(readRequiredRules({})).toEqual([]);
  expect(readRequiredRules(of({ ...RULE, justification: "Ask." }))).toMatchObject([
    { pattern: [["rm"], ["-r", "-f"]], decision: "forbidden", justification: "Ask." },
  ]);
});

it.each([
  [{ rules: { prefix_rule: [RULE] } }, "rules.prefix_rule is unknown"],
  [of(), "rules.prefix_rules: expected a list of tables"],
  [of({ ...RULE, decision: "allow" }), "rules.prefix_rules[0].decision"],
  [of({ pattern: RULE.pattern }), "rules.prefix_rules[0].decision is required"],
  [of({ decision: "prompt" }), "rules.prefix_rules[0].pattern: expected a list of tables"],
  [
    of({ ...RULE, pattern: [{}] }),
    "pattern[0].token, or rules.prefix_rules[0].pattern[0].any_of, is required",
  ],
  [of({ ...RULE, pattern: [{ any_of: [] }] }), "any_of, is required"],
  [of({ ...RULE, pattern: [{ token: "a", any_of: ["b"] }] }), "any_of, is required"],
])("refuses %j", (table, why) => {
  expect(() => readRequiredRules(table)).toThrow(why);
});
