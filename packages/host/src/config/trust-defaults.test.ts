import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { trustDefaults } from "./trust-defaults.ts";

const defaults = (trust: "trusted" | "untrusted" | null, table = {}) => {
  const { approvalPolicy, sandbox, permissionProfile } = trustDefaults(trust, readConfig(table));
  return [approvalPolicy, sandbox?.type, permissionProfile];
};

describe("what trust in a folder implies", () => {
  it("[TRUST-1] is a policy and a sandbox where people chose none", () => {
    expect(defaults(null)).toEqual([undefined, undefined, undefined]);
    expect(defaults("trusted")).toEqual(["on-request", "workspaceWrite", ":workspace"]);
    expect(defaults("untrusted")).toEqual(["untrusted", "workspaceWrite", ":workspace"]);
  });

  it("[TRUST-1] is nothing where they chose", () => {
    const chosen = { approval_policy: "never", sandbox_mode: "read-only" };
    expect(defaults("trusted", chosen)).toEqual([undefined, undefined, undefined]);
    expect(defaults("untrusted", { default_permissions: ":read-only" })).toEqual([
      "untrusted",
      undefined,
      undefined,
    ]);
  });

  it("lets nobody write unasked because a folder is not trusted", () => {
    expect(defaults("untrusted", { approval_policy: "never" })).toEqual([undefined, undefined, undefined]);
    expect(defaults("trusted", { approval_policy: "never" })[1]).toBe("workspaceWrite");
  });

  it("has what is configured of the workspace", () => {
    const table = { sandbox_workspace_write: { network_access: true } };
    const { sandbox, permissionProfile } = trustDefaults("trusted", readConfig(table));
    expect([sandbox, permissionProfile]).toMatchObject([{ networkAccess: true }, null]);
  });
});
