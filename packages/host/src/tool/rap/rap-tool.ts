import type { ThreadItem } from "@bobbin/protocol";
import type { Acceptance } from "@bobbin/rap/runtime";
import { isObject, type JsonObject, type ToolDefinition, type Toolset } from "@bobbin/rap/wire";
import { OUTCOME_UNKNOWN } from "../../core/turn/dead-host-recovery.ts";
import { runningCalls } from "../../core/turn/phase.ts";
import { type ApprovalQuestion, withApproval } from "../consent/tool-approval.ts";
import { exactJson } from "../original-json-text.ts";
import { type Invocation, refusal, type Step, type Tool } from "../tool.ts";
import type { ToolServerSettings } from "./rap-settings.ts";

/** A call to a tool server that is about to be sent. */
export interface OutgoingCall {
  readonly server: ToolServerSettings;
  readonly endpoint: string;
  readonly operation: string;
  readonly args: JsonObject;
  /** The arguments as the model wrote them. Set if they contain numbers that JavaScript cannot represent. */
  readonly argumentsJson: string | undefined;
  readonly idempotent: boolean;
  readonly invocation: Invocation;
}

/** The parts of the host that the tools need. */
export interface RapToolPorts {
  now(): number;
  after(ms: number, run: () => void): () => void;
  send(call: OutgoingCall, signal: AbortSignal): Promise<Acceptance>;
}

/** Builds the tools of one toolset. */
export function rapTools(server: ToolServerSettings, toolset: Toolset, ports: RapToolPorts): readonly Tool[] {
  return toolset.tools.map((definition) => {
    const item = itemOf(toolset, definition);
    const tool = plainTool(server, toolset, definition, item, ports);
    if (!needsApproval(server, definition)) return tool;
    return withApproval(tool, (invocation) => question(toolset, definition, invocation), {
      started: (invocation) => item(invocation, null, null),
      failed: (invocation, reason) => item(invocation, reason, invocation.now),
    });
  });
}

/** The item of a call as clients see it. It is in progress while `completedAtMs` is null, and has failed otherwise. */
type ItemOf = (invocation: Invocation, error: string | null, completedAtMs: number | null) => ThreadItem;

function itemOf({ name: toolset }: Toolset, { name, annotations }: ToolDefinition): ItemOf {
  return ({ call, args, startedAt }, error, completedAtMs) => ({
    type: "mcpToolCall",
    id: call.callId,
    server: toolset,
    tool: name,
    status: completedAtMs === null ? "inProgress" : "failed",
    arguments: args,
    appContext: null,
    mcpAppUi: null,
    pluginId: null,
    readOnlyHint: annotations?.readOnly ?? null,
    result: null,
    error: error === null ? null : { message: error },
    durationMs: completedAtMs === null ? null : completedAtMs - startedAt,
    startedAtMs: startedAt,
    completedAtMs,
  });
}

function plainTool(
  server: ToolServerSettings,
  { name: toolset, endpoint }: Toolset,
  { name, description, inputSchema, annotations = {} }: ToolDefinition,
  item: ItemOf,
  ports: RapToolPorts,
): Tool {
  const { idempotent = false } = annotations;
  const { callDeadlineSecs: secs } = server;
  const failure = (invocation: Invocation, says: string): Step => ({
    kind: "settle",
    output: `Error: ${says}`,
    success: false,
    item: item(invocation, says, ports.now()),
  });
  return {
    name,
    namespace: null,
    parameters: inputSchema,
    via: server.name,
    spec: {
      kind: "function",
      name,
      namespace: null,
      description,
      parameters: inputSchema,
      strict: false,
    },
    begin(invocation) {
      if (!isObject(invocation.args)) return refusal("The arguments have to be an object.");
      const until = secs === null ? undefined : invocation.now + secs * 1000;
      return { kind: "dispatch", again: idempotent, until, item: item(invocation, null, null) };
    },
    async perform(invocation, signal) {
      const args = invocation.args as JsonObject;
      const argumentsJson = exactJson(invocation.call.arguments, args);
      const call = { server, endpoint, operation: name, args, argumentsJson, idempotent, invocation };
      const until = deadlineOf(invocation) ?? null;
      // `lastAt` is used if the clock was set back since the deadline was recorded.
      const left = until === null ? null : until - Math.max(ports.now(), invocation.thread.lastAt);
      const sent = await withinTime(left, ports, signal, (both) => ports.send(call, both));
      switch (sent.kind) {
        case "accepted":
          return { kind: "wait", until };
        case "refused":
          return failure(invocation, `The tool server ${toolset} refused the call: ${sent.says}.`);
        case "unreachable":
          return failure(invocation, `The tool server ${toolset} could not take the call: ${sent.says}.`);
        case "unknown":
          return failure(
            invocation,
            `The tool server ${toolset} did not acknowledge the call, so whether it had its effect is not known.`,
          );
        case "aborted":
          // If the signal has not aborted, the deadline has passed: the call stops waiting, and the server is sent a
          // cancel notice.
          return signal.aborted ? refusal("The call was given up.") : { kind: "wait", until };
      }
    },
    late(invocation, acknowledged) {
      if (!acknowledged) return failure(invocation, OUTCOME_UNKNOWN);
      // Since the call was sent, the deadline may have been removed from the configuration.
      return failure(
        invocation,
        `${toolset} did not answer ${secs === null ? "in time" : `within ${secs} seconds`}.`,
      );
    },
  };
}

/** The deadline that was recorded with the dispatch. It stays the same if the call is sent again after a restart. */
function deadlineOf({ thread, call: { callId } }: Invocation): number | undefined {
  const stage = runningCalls(thread).find(({ call }) => call.callId === callId)?.stage;
  return stage?.kind === "dispatched" ? stage.until : undefined;
}

/** Runs `work` for at most `left` milliseconds, or until the signal aborts. */
async function withinTime(
  left: number | null,
  ports: RapToolPorts,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Acceptance>,
): Promise<Acceptance> {
  if (left === null) return work(signal);
  if (left <= 0) return { kind: "aborted" };
  const timeout = new AbortController();
  const cancel = ports.after(left, () => timeout.abort(new Error("the call has had its time")));
  try {
    return await work(AbortSignal.any([signal, timeout.signal]));
  } finally {
    cancel();
  }
}

function needsApproval({ approval }: ToolServerSettings, { annotations }: ToolDefinition): boolean {
  return approval === "always" || annotations?.destructive === true;
}

function question(
  { name: server }: Toolset,
  { name, description }: ToolDefinition,
  { thread, turnId, args }: Invocation,
): ApprovalQuestion {
  return {
    key: `rap ${server} ${name}`,
    ask: {
      method: "mcpServer/elicitation/request",
      params: {
        threadId: thread.facts.id,
        turnId,
        serverName: server,
        mode: "form",
        message: `Allow ${server} to run the tool "${name}"?`,
        requestedSchema: { type: "object", properties: {} },
        _meta: {
          codex_approval_kind: "mcp_tool_call",
          persist: "session",
          tool_name: name,
          tool_description: description,
          tool_params: args,
        },
      },
    },
  };
}
