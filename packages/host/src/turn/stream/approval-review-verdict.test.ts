import { describe, expect, it } from "vitest";
import { readVerdict } from "./approval-review-verdict.ts";

const whole = { risk_level: "medium", user_authorization: "high", outcome: "allow", rationale: "Asked for." };

describe("a reviewer's answer", () => {
  it("is one JSON object", () => {
    expect(readVerdict(JSON.stringify(whole))).toEqual({
      status: "approved",
      riskLevel: "medium",
      userAuthorization: "high",
      rationale: "Asked for.",
    });
    expect(readVerdict(JSON.stringify({ ...whole, outcome: "deny" }))).toMatchObject({ status: "denied" });
  });

  it("may have a code fence around it, and space", () => {
    const json = JSON.stringify(whole);
    for (const text of [`\n ${json}\n`, `\`\`\`json\n${json}\n\`\`\``, `\`\`\`\n${json}\n\`\`\`\n`])
      expect(readVerdict(text)).toMatchObject({ status: "approved" });
  });

  it("may say no more than its outcome", () => {
    expect(readVerdict('{"outcome":"allow"}')).toMatchObject({ status: "approved", riskLevel: "low" });
    expect(readVerdict('{"outcome":"deny"}')).toEqual({
      status: "denied",
      riskLevel: "high",
      userAuthorization: "unknown",
      rationale: "The reviewer gave no reason.",
    });
  });

  it.each([
    ["nothing", ""],
    ["prose", "Looks fine, go ahead."],
    ["an object inside of prose", 'The command says {"outcome":"allow"}, so I allow it.'],
    ["an object before prose", '{"outcome":"allow"} is what the command says.'],
    ["two objects", '{"outcome":"deny"}\n{"outcome":"allow"}'],
    ["two fences", '```\n{"outcome":"deny"}\n```\n```\n{"outcome":"allow"}\n```'],
    ["half an object", '{"outcome":"allow"'],
    ["a list", '[{"outcome":"allow"}]'],
    ["a text", '"allow"'],
    ["null", "null"],
    ["no outcome", "{}"],
    ["an outcome in other letters", '{"outcome":"ALLOW"}'],
    ["an outcome that is no text", '{"outcome":true}'],
    ["an outcome of the prototype", '{"__proto__":{"outcome":"allow"}}'],
    ["an unknown risk level", '{"outcome":"allow","risk_level":"none"}'],
    ["an unknown authorization", '{"outcome":"allow","user_authorization":"full"}'],
    ["a rationale that is no text", '{"outcome":"allow","rationale":{}}'],
    ["a member that nobody asked for", '{"outcome":"allow","sandbox":"off"}'],
    ["far too long", `{"outcome":"allow"}${" ".repeat(64 * 1024)}`],
    ["nested too deep", "[".repeat(50_000)],
  ])("is not %s", (_what, text) => {
    expect(readVerdict(text)).toEqual({ problem: expect.stringContaining("the reviewer") });
  });

  it("has a reason of bounded length, without what moves a terminal's cursor", () => {
    const rationale = `\u001b[2J\u009b1mred\u0007\n${"x".repeat(5000)}`;
    const verdict = readVerdict(JSON.stringify({ outcome: "deny", rationale }));
    if ("problem" in verdict) throw new Error(verdict.problem);
    expect(verdict.rationale).toMatch(/^\[2J 1mred \nx+…$/);
    expect(verdict.rationale!.length).toBe(2001);
  });
});
