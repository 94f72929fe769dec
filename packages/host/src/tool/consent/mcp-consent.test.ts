import type { AskForApproval, SandboxPolicy } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import type { McpToolAnnotations } from "../mcp/mcp-interface.ts";
import type { McpApprovalMode } from "../mcp/mcp-server-settings.ts";
import { NO_RULES } from "./command-and-network-rules.ts";
import type { Consent, ConsentRequest } from "./consent.ts";
import { decideConsent } from "./decide-consent.ts";
import { mcpGrant } from "./mcp-consent.ts";

const WORKSPACE: SandboxPolicy = {
  type: "workspaceWrite",
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
};

function consentTo(
  mode: McpApprovalMode,
  annotations: McpToolAnnotations,
  request: Partial<ConsentRequest> = {},
  forGood = true,
): Consent {
  return decideConsent({
    what: { kind: "mcp", server: "every", tool: "zip", mode, annotations, forGood },
    policy: "on-request",
    sandbox: WORKSPACE,
    roots: [],
    sandboxProblem: null,
    rules: NO_RULES,
    grants: [],
    ...request,
  });
}

const HINTS = [undefined, true, false] as const;
const ALL: readonly McpToolAnnotations[] = HINTS.flatMap((readOnlyHint) =>
  HINTS.flatMap((destructiveHint) =>
    HINTS.map((openWorldHint) => ({
      ...(readOnlyHint !== undefined && { readOnlyHint }),
      ...(destructiveHint !== undefined && { destructiveHint }),
      ...(openWorldHint !== undefined && { openWorldHint }),
    })),
  ),
);

describe("consent to a call of an MCP server", () => {
  it("[MCPCALL-2] follows the annotations in the mode `auto`", () => {
    for (const annotations of ALL) {
      const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
      const asks =
        destructiveHint === true ||
        (readOnlyHint !== true && !(destructiveHint === false && openWorldHint === false));
      expect(consentTo("auto", annotations).kind, JSON.stringify(annotations)).toBe(
        asks ? "ask" : "sandboxed",
      );
    }
  });

  it("[MCPCALL-2] follows the other modes whatever a server says", () => {
    for (const annotations of ALL) {
      expect(consentTo("approve", annotations).kind).toBe("sandboxed");
      expect(consentTo("prompt", annotations).kind).toBe("ask");
      expect(consentTo("writes", annotations).kind).toBe(annotations.readOnlyHint ? "sandboxed" : "ask");
    }
  });

  it("[MCPCALL-2] is remembered for a session, and offered for good, in the mode `auto` alone", () => {
    const grants = [mcpGrant("every", "zip")];
    expect(consentTo("auto", {})).toMatchObject({ grant: grants[0], amendment: ["every", "zip"] });
    expect(consentTo("auto", {}, {}, false)).toMatchObject({ grant: grants[0], amendment: null });
    expect(consentTo("auto", {}, { grants })).toEqual({ kind: "sandboxed" });
    for (const mode of ["prompt", "writes"] as const)
      expect(consentTo(mode, {}, { grants })).toMatchObject({ kind: "ask", grant: "", amendment: null });
  });

  it("[MCPCALL-2] is refused where nobody may be asked, unless the thread may do everything", () => {
    const never = { policy: "never" } as const;
    const full: SandboxPolicy = { type: "dangerFullAccess" };
    expect(consentTo("auto", {}, never)).toMatchObject({ kind: "refuse" });
    expect(consentTo("auto", { readOnlyHint: true }, never)).toEqual({ kind: "sandboxed" });
    expect(consentTo("prompt", {}, { ...never, sandbox: full })).toEqual({ kind: "sandboxed" });
    expect(consentTo("auto", {}, { sandbox: full })).toMatchObject({ kind: "ask" });
    const granular = (mcp_elicitations: boolean): AskForApproval => ({
      granular: { sandbox_approval: true, rules: true, mcp_elicitations },
    });
    expect(consentTo("auto", {}, { policy: granular(false) })).toMatchObject({ kind: "refuse" });
    expect(consentTo("auto", {}, { policy: granular(true) })).toMatchObject({ kind: "ask" });
  });

  it("[MCPCALL-2] is asked for each call of a turn that is reviewed as a whole", () => {
    const strict = { strict: true, grants: [mcpGrant("every", "zip")] };
    for (const mode of ["auto", "approve"] as const)
      expect(consentTo(mode, { readOnlyHint: true }, strict)).toMatchObject({
        kind: "ask",
        grant: "",
        amendment: null,
      });
  });
});
