import { decisionOf } from "../consent/approval-answer.ts";
import type { Consent } from "../consent/consent.ts";
import { type Invocation, refusal, type Step, type Tool } from "../tool.ts";
import { approvalQuestion, persistOf } from "./approval-question.ts";
import { type CallEnd, endedItem, type McpCall, startedItem } from "./call-item.ts";
import type { McpTool } from "./mcp-interface.ts";

/** The names of a tool as models see them. */
export interface McpToolNames {
  readonly server: string;
  readonly namespace: string;
  /** The server's instructions. */
  readonly namespaceDescription: string | undefined;
  readonly name: string;
}

export interface McpToolPorts {
  /** Decides whether the call may be made; undefined if the thread no longer has the server. */
  consent(call: McpCall): Consent | undefined;
  /** Saves that the tool needs no approval. Returns false if that failed. */
  allowForGood(call: McpCall): Promise<boolean>;
  /** Makes the call. Rejects only if `signal` aborts. */
  perform(call: McpCall, signal: AbortSignal): Promise<PerformedCall>;
}

/** The outcome of a call, for the model and for clients. */
export interface PerformedCall extends CallEnd {
  readonly output: Extract<Step, { kind: "settle" }>["output"];
}

/**
 * The tool of one MCP server's tool. All threads with the same tools of the server share it, so it holds no state of
 * a thread. Arguments must be an object; the server validates the rest.
 */
export function mcpTool(names: McpToolNames, tool: McpTool, isDeferred: boolean, ports: McpToolPorts): Tool {
  const { server, namespace, namespaceDescription, name } = names;
  const callOf = (invocation: Invocation): McpCall => ({ server, tool, invocation });

  const dispatch = (call: McpCall, grant?: string): Step => ({
    kind: "dispatch",
    again: false,
    // Whether the call may have a lasting effect. Then its record is synced to disk before the call. Read-only and
    // idempotent calls do not wait for that.
    lasting: !(tool.annotations?.readOnlyHint || tool.annotations?.idempotentHint),
    item: startedItem(call),
    ...(grant && { grant }),
  });
  const refuse = (call: McpCall, reason: string): Step => {
    const { now: at } = call.invocation;
    const end = { success: false, result: null, error: reason, at, calledAt: null };
    return { kind: "settle", output: reason, success: false, item: endedItem(call, end) };
  };
  const serverRemoved = refusal(`The MCP server ${server} is not there any more.`);

  return {
    name,
    namespace,
    spec: {
      kind: "function",
      name,
      namespace,
      namespaceDescription,
      description: tool.description ?? tool.title ?? "",
      parameters: tool.inputSchema,
      strict: false,
      ...(isDeferred && { deferred: true }),
    },
    begin(invocation) {
      const call = callOf(invocation);
      if (!isObject(invocation.args)) return refuse(call, "The arguments have to be an object.");
      const consent = ports.consent(call);
      switch (consent?.kind) {
        case undefined:
          return serverRemoved;
        case "ask":
          return {
            kind: "ask",
            ask: approvalQuestion(call, consent),
            question: APPROVAL,
            item: startedItem(call),
          };
        case "refuse":
          return refuse(call, consent.reason);
        default:
          return dispatch(call);
      }
    },
    // Called with the user's answer to the approval question.
    async heard(invocation, { method }, answer) {
      const call = callOf(invocation);
      const decision = decisionOf(method, answer);
      if (decision.kind === "decline") return refuse(call, `The tool was not called: ${decision.words}`);
      const consent = ports.consent(call);
      if (consent === undefined) return serverRemoved;
      // A session or permanent approval counts only if the question offered it, because a client may answer anything.
      const [grant, forGood] =
        consent.kind === "ask" ? [consent.grant, consent.amendment !== null] : ["", false];
      const persist = answer.kind === "result" ? persistOf(answer.result) : "once";
      if (persist === "once" || grant === "") return dispatch(call);
      // The permanent approval is written to the configuration before the call is dispatched. After a crash in between,
      // the next host gets the same recorded answer, and writes the approval again.
      if (persist === "always" && forGood) await ports.allowForGood(call);
      return dispatch(call, grant);
    },
    async perform(invocation, signal) {
      const call = callOf(invocation);
      const { output, success, ...end } = await ports.perform(call, signal);
      return { kind: "settle", output, success, item: endedItem(call, { ...end, success }) };
    },
  };
}

const APPROVAL = "approval";

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
