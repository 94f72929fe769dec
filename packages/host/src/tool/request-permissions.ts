import type { PermissionsRequestApprovalResponse } from "@bobbin/protocol";
import type { ThreadState } from "../core/state.ts";
import { decisionOf } from "./consent/answer.ts";
import { mayAsk } from "./consent/consent.ts";
import { decideConsent } from "./consent/decide.ts";
import { answeredPermissions, isNothing, type Permissions, permissionGrant } from "./consent/permissions.ts";
import { NO_RULES } from "./consent/rules.ts";
import { type Invocation, refusal, type Step, type Tool, type ToolSource } from "./tool.ts";
import {
  type AskedPermissions,
  hasOwnProfile,
  PERMISSION_PARAMETERS,
  permissionsView,
  reachable,
  type WidenPorts,
  wantedPermissions,
} from "./wanted-permissions.ts";

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
  /** Whether a thread's sandbox may be widened by whoever answers its questions. */
  mayWiden(thread: ThreadState): boolean;
}

/** `request_permissions`: the model asks for the network, or to write elsewhere, without leaving the sandbox. */
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
      // The answer to this question is no decision: an empty grant is the refusal.
      const response =
        answer.kind === "result" ? (answer.result as PermissionsRequestApprovalResponse) : null;
      // A review of all that is done holds for the turn: it cannot go with a grant that outlives it.
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
