import { type Consent, type ConsentRequest, type Intent, mayAsk, NEEDS_APPROVAL } from "./consent.ts";

type McpCall = Extract<Intent, { kind: "mcp" }>;

/** Decides about a call of an MCP tool: run it, ask the user, or refuse. */
export function mcpConsent(request: ConsentRequest, what: McpCall): Consent {
  const { policy, sandbox, grants, strict = false } = request;
  const { server, tool, mode, forGood } = what;
  // In modes other than `auto`, each call is decided separately, so the user's answer is not stored as a grant.
  const isRemembered = mode === "auto";
  const grant = isRemembered ? mcpGrant(server, tool) : "";
  const allowed: Consent = { kind: "sandboxed" };
  if (!strict) {
    if (!needsApproval(what)) return allowed;
    if (isRemembered && grants.includes(grant)) return allowed;
    // With full access and the policy `never`, every call is allowed, whatever the tool's hints and approval mode.
    const mayAll = sandbox.type === "dangerFullAccess" || sandbox.type === "externalSandbox";
    if (policy === "never" && mayAll) return allowed;
  }
  if (!mayAsk(policy, "mcp_elicitations")) return { kind: "refuse", reason: NEEDS_APPROVAL };
  return {
    kind: "ask",
    reason: null,
    amendment: isRemembered && forGood && !strict ? [server, tool] : null,
    grant: strict ? "" : grant,
    runs: "sandboxed",
  };
}

/** The grant key of calling an MCP tool. */
export function mcpGrant(server: string, tool: string): string {
  return `mcp ${JSON.stringify([server, tool])}`;
}

/** The grant key for an MCP server's use of the thread's model. */
export function samplingGrant(server: string): string {
  return `mcpSampling ${server}`;
}

function needsApproval({ mode, annotations }: McpCall): boolean {
  const { readOnlyHint = false, destructiveHint, openWorldHint } = annotations;
  switch (mode) {
    case "approve":
      return false;
    case "prompt":
      return true;
    case "writes":
      return !readOnlyHint;
    case "auto":
      if (destructiveHint === true) return true;
      if (readOnlyHint) return false;
      // A tool without hints may do anything.
      return !(destructiveHint === false && openWorldHint === false);
  }
}
