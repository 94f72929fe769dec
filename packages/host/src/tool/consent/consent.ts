import type { AskForApproval, SandboxPolicy } from "@bobbin/protocol";
import type { McpToolAnnotations } from "../mcp/mcp-interface.ts";
import type { McpApprovalMode } from "../mcp/mcp-server-settings.ts";
import type { NetworkProtocol, Rules } from "./command-and-network-rules.ts";
import type { ParsedCommand } from "./parse-command.ts";
import type { Permissions } from "./permissions.ts";

/** An action that needs consent: a command, input, a patch, a tool call, permissions or a connection. */
export type Intent =
  | {
      readonly kind: "command";
      readonly command: ParsedCommand;
      /** Whether the model asks to run the command outside of the sandbox. */
      readonly escalate: boolean;
      readonly justification: string | null;
      /** The command prefix that the model suggests as an allow rule. */
      readonly prefixRule: readonly string[] | null;
      readonly workdir: string;
      /** The shell for the command, if the model named one. */
      readonly shell?: string | null;
      /** Permissions that widen the sandbox for this command. */
      readonly additional?: Permissions | null | undefined;
    }
  /**
   * Input to a background terminal. `outside`: the process runs outside of the sandbox, or in a sandbox with
   * additional permissions.
   */
  | { readonly kind: "stdin"; readonly process: string; readonly outside: boolean }
  /** Files that a patch changes: real paths, with symlinks resolved. */
  | {
      readonly kind: "patch";
      readonly paths: readonly string[];
      /** The paths that a permission profile does not allow to write. Null if the sandbox policy decides. */
      readonly unwritable?: readonly string[] | null;
      /** Those in writable folders that commands can only read, because the user's git runs what they say. */
      readonly guarded?: readonly string[];
    }
  /**
   * A call of a tool of a tool server or client, or an elicitation of an MCP server. `asks`: the user has to approve
   * it.
   */
  | { readonly kind: "tool"; readonly key: string; readonly asks: boolean }
  | {
      readonly kind: "mcp";
      readonly server: string;
      readonly tool: string;
      readonly mode: McpApprovalMode;
      /** The hints that the MCP server gives about the tool. */
      readonly annotations: McpToolAnnotations;
      /** Whether a permanent approval may be offered, which is written to the configuration. */
      readonly forGood: boolean;
    }
  | { readonly kind: "permissions"; readonly key: string; readonly reason: string | null }
  | {
      readonly kind: "network";
      readonly host: string;
      readonly port: number;
      readonly protocol: NetworkProtocol;
      /** Whether the configuration lists the network host as allowed or denied. */
      readonly listed?: "allow" | "deny" | null;
    };

/** An action, and all facts that decide about it. */
export interface ConsentRequest {
  readonly what: Intent;
  readonly policy: AskForApproval;
  readonly sandbox: SandboxPolicy;
  /** The workspace roots, which commands may write to under the sandbox policy `workspaceWrite`. */
  readonly roots: readonly string[];
  /** Why this machine has no sandbox; null if it has one. */
  readonly sandboxProblem: string | null;
  /**
   * How a command with network access could connect to this host and approve its own questions; null if it cannot.
   */
  readonly listenerProblem?: string | null;
  readonly rules: Rules;
  /** Why there may be rules that are not known; null if all are known. Then rules allow nothing without a question. */
  readonly rulesProblem?: string | null;
  /** Keys of the grants: what users allowed for the session. */
  readonly grants: readonly string[];
  /** Whether a reviewer checks all actions of the turn. Then even actions that need no approval are asked about. */
  readonly strict?: boolean;
  /** Whether no action of this thread may leave the sandbox, whatever rules or users allow. */
  readonly confined?: boolean;
}

/** The decision: run in the sandbox, run outside, ask the user, or refuse. */
export type Consent =
  | { readonly kind: "sandboxed" }
  | { readonly kind: "unsandboxed"; readonly because: string }
  | {
      readonly kind: "ask";
      /** The reason that the user sees; null if the question explains itself. */
      readonly reason: string | null;
      /** The command prefix or host to offer for a permanent rule; null if none may be offered. */
      readonly amendment: readonly string[] | null;
      /** The grant to store if the user answers `acceptForSession`. */
      readonly grant: string;
      readonly runs: "sandboxed" | "unsandboxed";
    }
  /**
   * `reason`: for the model. `sandboxProblem`: why commands cannot be confined on this machine, if the refusal is due to
   * that.
   */
  | { readonly kind: "refuse"; readonly reason: string; readonly sandboxProblem?: string };

/** Begins the reason of a question about a command that cannot be confined. */
export const UNCONFINED = "It runs without a sandbox";

/** Whether the approval policy allows questions of this kind. */
export function mayAsk(
  policy: AskForApproval,
  kind: "sandbox_approval" | "rules" | "mcp_elicitations" | "request_permissions",
): boolean {
  return typeof policy === "object" ? (policy.granular[kind] ?? false) : policy !== "never";
}

/** The refusal of a tool call that needs approval, if the policy does not allow questions. */
export const NEEDS_APPROVAL = "This call needs the user's approval, and this thread is set to ask for none.";
