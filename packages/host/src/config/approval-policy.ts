import type { AskForApproval } from "@bobbin/protocol";
import { ConfigError } from "./config-error.ts";
import { flag, oneOf, subtable, type Table } from "./table.ts";

const KEY = "approval_policy";

/** A word, or `{ granular = { … } }` with a flag for each thing that may be asked. */
export function readApprovalPolicy(table: Table): AskForApproval | undefined {
  const value = table[KEY];
  if (typeof value !== "object" || value === null) {
    const word = oneOf(table, KEY, ["untrusted", "on-request", "on-failure", "never"]);
    // Configurations that are older say so; asking is its closest kin.
    return word === "on-failure" ? "on-request" : word;
  }
  const granular = subtable(subtable(table, KEY)!, "granular", `${KEY}.`);
  if (granular === undefined) throw new ConfigError(`${KEY}: expected a word or a table "granular"`);
  const given = (name: string): boolean => flag(granular, name, `${KEY}.granular.`) ?? false;
  return {
    granular: {
      sandbox_approval: given("sandbox_approval"),
      rules: given("rules"),
      mcp_elicitations: given("mcp_elicitations"),
      request_permissions: given("request_permissions"),
      skill_approval: given("skill_approval"),
    },
  };
}

/** What people should know about a policy that is taken as another. */
export function policyWarnings(table: Table): readonly string[] {
  if (table[KEY] !== "on-failure") return [];
  return [`${KEY} = "on-failure" is taken as "on-request": the model asks before it leaves the sandbox.`];
}

/** With every flag there: who decodes strictly misses none. */
export function wholePolicy(policy: AskForApproval): AskForApproval {
  if (typeof policy === "string") return policy;
  return { granular: { request_permissions: false, skill_approval: false, ...policy.granular } };
}
