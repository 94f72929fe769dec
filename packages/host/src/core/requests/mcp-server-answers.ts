import type { McpServerElicitationRequestResponse } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { Aside, PendingRequest, RequestAnswer } from "./records.ts";

/** Whether a request belongs to a call of an MCP tool by a client, and so to no turn. */
export function isDirect({ aside }: Pick<PendingRequest, "aside">): boolean {
  return aside?.kind === "server" && aside.direct === true;
}

/** The decision in a client's answer to an MCP server's question. Any answer that is not clearly a yes is a no. */
export function serverDecision(answer: RequestAnswer): "once" | "session" | "no" {
  if (answer.kind !== "result") return "no";
  const { action, _meta: meta } = answer.result as McpServerElicitationRequestResponse;
  if (action !== "accept") return "no";
  return (Object(meta) as { readonly persist?: unknown }).persist === "session" ? "session" : "once";
}

/**
 * The records that follow from an answer to an MCP server's question: a grant, if the user approved for the session.
 */
export function serverAnswered(
  { turnId }: PendingRequest,
  { grant }: Extract<Aside, { kind: "server" }>,
  at: number,
  answer: RequestAnswer,
): readonly ThreadRecord[] {
  if (grant === undefined || serverDecision(answer) !== "session") return [];
  return [{ type: "approvalGranted", turnId, key: grant, grantedAt: at }];
}
