import type { PermissionsRequestApprovalResponse } from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import { decisionOf } from "../consent/approval-answer.ts";
import { NO_RULES } from "../consent/command-and-network-rules.ts";
import { mayAsk } from "../consent/consent.ts";
import { decideConsent } from "../consent/decide-consent.ts";
import { answeredPermissions, isNothing, type Permissions, permissionGrant } from "../consent/permissions.ts";
import { type Invocation, refusal, type Step, type Tool, type ToolSource } from "../tool.ts";
import {
  type AskedPermissions,
  hasOwnProfile,
  PERMISSION_PARAMETERS,
  permissionsView,
  reachable,
  type WidenPorts,
  wantedPermissions,
} from "./permission-arguments.ts";

const parameters = {
  type: "object",
  properties: {
    reason: { type: "string", description: "A short sentence to the user that says what it is for." },
    permissions: PERMISSION_PARAMETERS,
  },
  required: ["permissions"],
  additionalProperties: false,
};

interface Arguments {
  readonly reason?: string;
  readonly permissions: AskedPermissions;
}

export interface PermissionPorts extends WidenPorts {
  /** Whether the users who answer a thread's questions may extend its sandbox. */
  mayWiden(thread: ThreadState): boolean;
}

/**
 * The tool source with `request_permissions`: the model asks for network access or for more writable paths, and stays
 * in the sandbox.
 */
export function permissionTools(ports: PermissionPorts): ToolSource {
  const tool = requestPermissions(ports);
  return {
    tools: (thread) => {
      const { sandbox, approvalPolicy } = thread.settings;
      const isConfined =
        !hasOwnProfile(thread) && (sandbox.type === "readOnly" || sandbox.type === "workspaceWrite");
      return isConfined && mayAsk(approvalPolicy, "request_permissions") && ports.mayWiden(thread)
        ? [tool]
        : [];
    },
  };
}

function requestPermissions(ports: PermissionPorts): Tool {
  return {
    name: "request_permissions",
    namespace: null,
    parameters,
    spec: {
      kind: "function",
      name: "request_permissions",
      namespace: null,
      description:
        "Asks the user to let commands use the network, or write to files and folders outside of what the sandbox allows. They stay in the sandbox otherwise.",
      parameters,
      strict: false,
    },
    async begin(invocation) {
      const wanted = await wantedBy(ports, invocation);
      if (typeof wanted === "string") return refusal(`No permissions were granted: ${wanted}`);
      if (isNothing(wanted))
        return {
          kind: "settle",
          output: "Nothing is missing: the sandbox allows this already.",
          success: true,
        };
      const { thread } = invocation;
      const reason = (invocation.args as Arguments).reason ?? null;
      const consent = decideConsent({
        what: { kind: "permissions", key: permissionGrant(wanted, null), reason },
        policy: thread.settings.approvalPolicy,
        ...reachable(thread),
        sandboxProblem: null,
        rules: NO_RULES,
        grants: thread.grants,
      });
      if (consent.kind === "refuse") return refusal(consent.reason);
      return { kind: "ask", question: "permissions", ask: askFor(invocation, wanted, reason) };
    },
    async heard(invocation, { method }, answer) {
      const wanted = await wantedBy(ports, invocation);
      if (typeof wanted === "string") return refusal(`No permissions were granted: ${wanted}`);
      // A response without any permission is a refusal.
      const response =
        answer.kind === "result" ? (answer.result as PermissionsRequestApprovalResponse) : null;
      // A strict review ends with the turn, so it cannot be combined with a grant for the session.
      if (response?.strictAutoReview && response.scope === "session")
        return refusal(
          "No permissions were granted: a strict review goes with permissions for the turn, and these were for the session.",
        );
      const granted = answeredPermissions(response?.permissions, wanted);
      if (isNothing(granted)) {
        const decision = decisionOf(method, answer);
        const words = decision.kind === "decline" ? decision.words : "the user declined it.";
        return refusal(`No permissions were granted: ${words}`);
      }
      const turnId = response?.scope === "session" ? null : invocation.turnId;
      return granting(granted, turnId);
    },
  };
}

function granting(granted: Permissions, turnId: string | null): Step {
  const what = [
    ...(granted.network ? ["the network"] : []),
    ...granted.write.map((path) => `writing to ${path}`),
  ];
  return {
    kind: "settle",
    output: `Granted for ${turnId === null ? "this session" : "this turn"}: ${what.join(", ")}.`,
    success: true,
    grant: permissionGrant(granted, turnId),
  };
}

function wantedBy(ports: PermissionPorts, { thread, args }: Invocation): Promise<Permissions | string> {
  return wantedPermissions(ports, thread, (args as Arguments).permissions, thread.settings.cwd);
}

function askFor(
  { thread, turnId, call, now }: Invocation,
  wanted: Permissions,
  reason: string | null,
): Extract<Step, { kind: "ask" }>["ask"] {
  return {
    method: "item/permissions/requestApproval",
    params: {
      threadId: thread.facts.id,
      turnId,
      itemId: call.callId,
      environmentId: "local",
      startedAtMs: now,
      cwd: thread.settings.cwd,
      reason,
      permissions: permissionsView(wanted),
    },
  };
}
