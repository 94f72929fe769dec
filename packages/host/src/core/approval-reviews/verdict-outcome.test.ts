import { expect, it } from "vitest";
import type { Ask } from "../requests/records.ts";
import type { Verdict } from "./records.ts";
import { answerOf, warningOf, wordsOf } from "./verdict-outcome.ts";

const verdict = (more: Partial<Verdict>): Verdict => ({
  status: "denied",
  riskLevel: "high",
  userAuthorization: "low",
  rationale: "it deletes",
  ...more,
});
const permissions = { network: { enabled: true }, fileSystem: null };
const ASKS = {
  command: { method: "item/commandExecution/requestApproval", params: {} },
  permissions: { method: "item/permissions/requestApproval", params: { permissions } },
  tool: { method: "mcpServer/elicitation/request", params: {} },
} as unknown as Record<string, Ask>;

it("approves each request in the words of its own answer", () => {
  const approved = verdict({ status: "approved" });
  expect(answerOf(ASKS.command!, approved)).toEqual({ kind: "result", result: { decision: "accept" } });
  expect(answerOf(ASKS.permissions!, approved)).toEqual({
    kind: "result",
    result: { permissions, scope: "turn" },
  });
  expect(answerOf(ASKS.tool!, approved)).toEqual({
    kind: "result",
    result: { action: "accept", content: null, _meta: null },
  });
});

it("refuses every request alike, with the reason, and clears one whose review was aborted", () => {
  for (const ask of Object.values(ASKS)) {
    expect(answerOf(ask, verdict({}))).toEqual({ kind: "denied", words: wordsOf(verdict({})) });
    expect(answerOf(ask, verdict({ status: "aborted" }))).toEqual({ kind: "cleared" });
  }
});

it("says to the model whether the risk is known", () => {
  expect(wordsOf(verdict({}))).toMatch(/denied it: it deletes\n.*safer way/);
  expect(wordsOf(verdict({ rationale: null }))).toContain("no reason was given");
  expect(wordsOf(verdict({ riskLevel: null }))).toContain("could not be reviewed (it deletes)");
  expect(wordsOf(verdict({ riskLevel: null, rationale: null }))).toContain("no reason is known");
  expect(wordsOf(verdict({ status: "timedOut" }))).toContain("says nothing about the risk");
});

it("warns clients of each end but that of an aborted turn", () => {
  expect(warningOf(verdict({ status: "aborted" }))).toBeUndefined();
  expect(warningOf(verdict({ status: "timedOut", rationale: null }))).toMatch(/timed out/);
  expect(warningOf(verdict({ status: "timedOut" }))).toBe("it deletes");
  expect(warningOf(verdict({ riskLevel: null, rationale: null }))).toMatch(/failed/);
  expect(warningOf(verdict({ riskLevel: null }))).toBe("it deletes");
  expect(warningOf(verdict({}))).toBe("Auto review denied this (risk: high, authorization: low): it deletes");
});
