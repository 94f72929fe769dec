import { resolve } from "node:path";
import type { PermissionsRequestApprovalResponse } from "@bobbin/protocol";
import type { ThreadState } from "../core/state.ts";
import type { Files } from "../platform/platform.ts";
import { decisionOf } from "./consent/answer.ts";
import { mayAsk } from "./consent/consent.ts";
import { decideConsent } from "./consent/decide.ts";
import {
  answeredPermissions,
  isWithin,
  missingPermissions,
  type Permissions,
  permissionGrant,
  type Reachable,
  withGrants,
} from "./consent/permissions.ts";
import { NO_RULES } from "./consent/rules.ts";
import { type Invocation, refusal, type Step, type Tool, type ToolSource } from "./tool.ts";

const MAX_PATHS = 32;

const parameters = {
  type: "object",
  properties: {
    reason: { type: "string", description: "A short sentence to the user that says what it is for." },
    permissions: {
      type: "object",
      properties: {
        network: {
          type: "object",
          properties: { enabled: { type: "boolean" } },
          required: ["enabled"],
          additionalProperties: false,
        },
        file_system: {
          type: "object",
          properties: {
            read: { type: "array", items: { type: "string" }, maxItems: MAX_PATHS },
            write: { type: "array", items: { type: "string" }, maxItems: MAX_PATHS },
          },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  },
  required: ["permissions"],
  additionalProperties: false,
};

interface Arguments {
  readonly reason?: string;
  readonly permissions: {
    readonly network?: { readonly enabled: boolean };
    readonly file_system?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  };
}

export interface PermissionPorts {
  readonly files: Pick<Files, "realPath">;
  /** Nothing in it is ever given away. */
  readonly home: string;
  /** Whether a thread's sandbox may be widened by whoever answers its questions. */
  mayWiden(thread: ThreadState): boolean;
}

/** `request_permissions`: the model asks for the network, or to write elsewhere, without leaving the sandbox. */
export function permissionTools(ports: PermissionPorts): ToolSource {
  const tool = requestPermissions(ports);
  return {
    tools: (thread) => {
      const { sandbox, approvalPolicy, permissionProfile } = thread.settings;
      // A profile that people wrote goes before the policy, and is not widened.
      const isOwnProfile = permissionProfile != null && !permissionProfile.startsWith(":");
      const isConfined = !isOwnProfile && (sandbox.type === "readOnly" || sandbox.type === "workspaceWrite");
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
      if (wanted.write.some((path) => isWithin(path, ports.home) || isWithin(ports.home, path)))
        return refusal("No permissions were granted: the home of this host is never given away.");
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
      // The answer to this question is no decision: an empty grant is the refusal.
      const response =
        answer.kind === "result" ? (answer.result as PermissionsRequestApprovalResponse) : null;
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

function reachable({ settings, grants, turn }: ThreadState): Reachable {
  const { sandbox, cwd, roots = [cwd] } = settings;
  return withGrants({ sandbox, roots }, grants, turn?.id ?? null);
}

/** What the call asks for and the thread does not have. What can be read at all can be read in every sandbox. */
async function wantedBy({ files }: PermissionPorts, { thread, args }: Invocation): Promise<Permissions> {
  const { network, file_system: fileSystem } = (args as Arguments).permissions;
  const paths = (fileSystem?.write ?? []).map((path) => resolve(thread.settings.cwd, path));
  const write = await Promise.all(paths.map((path) => files.realPath(path)));
  const { sandbox, roots } = reachable(thread);
  const real = await Promise.all(roots.map((root) => files.realPath(root)));
  const wanted = { network: network?.enabled ?? false, write: [...new Set(write)] };
  return missingPermissions(wanted, { sandbox, roots: real });
}

function isNothing({ network, write }: Permissions): boolean {
  return !network && write.length === 0;
}

function askFor(
  { thread, turnId, call, now }: Invocation,
  { network, write }: Permissions,
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
      permissions: {
        network: network ? { enabled: true } : null,
        fileSystem: write.length === 0 ? null : { read: null, write: [...write] },
      },
    },
  };
}
