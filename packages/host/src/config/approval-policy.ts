import type { AskForApproval } from "@bobbin/protocol";
import { ConfigError } from "./bad-config-error.ts";
import { flag, oneOf, subtable, type Table } from "./table-reader.ts";

const KEY = "approval_policy";

/**
 * Reads `approval_policy`: a word, or `{ granular = { … } }` with a flag for each kind of question that may be asked.
 */
export function readApprovalPolicy(table: Table): AskForApproval | undefined {
  const value = table[KEY];
  if (typeof value !== "object" || value === null) {
    const word = oneOf(table, KEY, ["untrusted", "on-request", "on-failure", "never"]);
    // "on-failure" is a value of older Codex configurations; "on-request" comes closest to it.
    return word === "on-failure" ? "on-request" : word;
  }
  const granular = subtable(subtable(table, KEY)!, "granular", `${KEY}.`);
  if (granular === undefined) throw new ConfigError(`${KEY}: expected a word or a table "granular"`);
  const isSet = (name: string): boolean => flag(granular, name, `${KEY}.granular.`) ?? false;
  return {
    granular: {
      sandbox_approval: isSet("sandbox_approval"),
      rules: isSet("rules"),
      mcp_elicitations: isSet("mcp_elicitations"),
      request_permissions: isSet("request_permissions"),
      skill_approval: isSet("skill_approval"),
    },
  };
}

/** Warnings about a policy that is replaced by another one. */
export function policyWarnings(table: Table): readonly string[] {
  if (table[KEY] !== "on-failure") return [];
  return [`${KEY} = "on-failure" is taken as "on-request": the model asks before it leaves the sandbox.`];
}

/** Fills in the optional flags of a granular policy, for clients that require all of them. */
export function wholePolicy(policy: AskForApproval): AskForApproval {
  if (typeof policy === "string") return policy;
  return { granular: { request_permissions: false, skill_approval: false, ...policy.granular } };
}
