import type { GuardianRiskLevel, GuardianUserAuthorization } from "@bobbin/protocol";
import type { Verdict } from "../../core/approval-reviews/records.ts";

const RISKS: readonly GuardianRiskLevel[] = ["low", "medium", "high", "critical"];
const AUTHORIZATIONS: readonly GuardianUserAuthorization[] = ["unknown", "low", "medium", "high"];
const OUTCOMES = ["allow", "deny"] as const;

/** Limit on the characters of the reviewer's answer. A verdict is much shorter. */
const ANSWER_CHARACTERS = 64 * 1024;
/** Limit on the rationale that clients and the model are shown. */
const RATIONALE_CHARACTERS = 2000;

/** The schema of the reviewer's answer. Every member is required, because providers with structured output demand that. */
export const VERDICT_SCHEMA = {
  type: "object",
  properties: {
    risk_level: { type: "string", enum: RISKS },
    user_authorization: { type: "string", enum: AUTHORIZATIONS },
    outcome: { type: "string", enum: OUTCOMES },
    rationale: { type: "string" },
  },
  required: ["risk_level", "user_authorization", "outcome", "rationale"],
  additionalProperties: false,
};

/**
 * Parses a reviewer's answer: one JSON object and nothing else, except a code fence around it. JSON within other text
 * is not accepted, because it may be quoted from the reviewed material. Only `outcome` is required.
 */
export function readVerdict(answer: string): Verdict | { readonly problem: string } {
  if (answer.length > ANSWER_CHARACTERS) return { problem: "the reviewer's answer is far too long" };
  const text = withoutFence(answer.trim());
  if (text === "") return { problem: "the reviewer gave no answer" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "the reviewer's answer is no JSON" };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problem: "the reviewer's answer is no JSON object" };
  const unknown = Object.keys(value).find((key) => !(key in VERDICT_SCHEMA.properties));
  if (unknown !== undefined) return { problem: "the reviewer's answer has members that nobody asked for" };
  const { outcome, risk_level, user_authorization, rationale } = value as Record<string, unknown>;
  if (!isOneOf(OUTCOMES, outcome)) return { problem: "the reviewer's answer has no outcome" };
  if (risk_level !== undefined && !isOneOf(RISKS, risk_level))
    return { problem: "the reviewer's answer has an unknown risk level" };
  if (user_authorization !== undefined && !isOneOf(AUTHORIZATIONS, user_authorization))
    return { problem: "the reviewer's answer has an unknown authorization" };
  if (rationale !== undefined && typeof rationale !== "string")
    return { problem: "the reviewer's answer has a rationale that is no text" };
  const allowed = outcome === "allow";
  return {
    status: allowed ? "approved" : "denied",
    riskLevel: risk_level ?? (allowed ? "low" : "high"),
    userAuthorization: user_authorization ?? "unknown",
    rationale: shortened(rationale ?? "") || "The reviewer gave no reason.",
  };
}

function isOneOf<T extends string>(values: readonly T[], value: unknown): value is T {
  return (values as readonly unknown[]).includes(value);
}

function withoutFence(text: string): string {
  return /^```(?:json)?\s*\n([\s\S]*)\n```$/.exec(text)?.[1]?.trim() ?? text;
}

/** The text, cut at its limit and without control characters, which could move a terminal's cursor. */
function shortened(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
  const plain = text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, " ").trim();
  return plain.length > RATIONALE_CHARACTERS ? `${plain.slice(0, RATIONALE_CHARACTERS)}…` : plain;
}
