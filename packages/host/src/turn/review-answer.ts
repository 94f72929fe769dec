import type { GuardianRiskLevel, GuardianUserAuthorization } from "@bobbin/protocol";
import type { Verdict } from "../core/reviews/records.ts";

const RISKS: readonly GuardianRiskLevel[] = ["low", "medium", "high", "critical"];
const AUTHORIZATIONS: readonly GuardianUserAuthorization[] = ["unknown", "low", "medium", "high"];
const OUTCOMES = ["allow", "deny"] as const;

/** Much more than a verdict has. */
const ANSWER_CHARACTERS = 64 * 1024;
/** How much of a rationale people and the model are shown. */
const RATIONALE_CHARACTERS = 2000;

/** What a reviewer has to answer. Every member is required: providers that hold models to a schema ask for that. */
export const REVIEW_SCHEMA = {
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
 * Reads a reviewer's answer: one JSON object and nothing beside it, except a code fence around it. JSON inside of prose
 * does not count: it may be a quotation of what the reviewer was shown. Only `outcome` must be there.
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
  const unknown = Object.keys(value).find((key) => !(key in REVIEW_SCHEMA.properties));
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

/** Without what could move a terminal's cursor. */
function shortened(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
  const plain = text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, " ").trim();
  return plain.length > RATIONALE_CHARACTERS ? `${plain.slice(0, RATIONALE_CHARACTERS)}…` : plain;
}
