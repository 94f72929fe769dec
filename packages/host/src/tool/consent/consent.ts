import type { AskForApproval, SandboxPolicy } from "@bobbin/protocol";
import type { Permissions } from "./permissions.ts";
import type { NetworkProtocol, Rules } from "./rules.ts";
import type { ParsedCommand } from "./shell.ts";

/** Something that needs consent. */
export type Intent =
  | {
      readonly kind: "command";
      readonly command: ParsedCommand;
      /** It is to run outside of the sandbox. */
      readonly escalate: boolean;
      readonly justification: string | null;
      /** The words that the model suggests to allow for good. */
      readonly prefixRule: readonly string[] | null;
      readonly workdir: string;
      /** The shell that runs it, where it is not the user's own. */
      readonly shell?: string | null | undefined;
      /** What it is to get beyond the sandbox while it stays in it. */
      readonly additional?: Permissions | null | undefined;
    }
  /** Input to a process. `outside`: it runs outside of the sandbox, or in one that was widened for it. */
  | { readonly kind: "stdin"; readonly process: string; readonly outside: boolean }
  /** Real paths: all links are followed. */
  | {
      readonly kind: "patch";
      readonly paths: readonly string[];
      /** Those of the paths that a permission profile does not let write; null: the policy of the sandbox decides. */
      readonly unwritable?: readonly string[] | null;
    }
  /** A call of a tool server, an MCP server or a client. `asks`: its settings say that people are asked first. */
  | { readonly kind: "tool"; readonly key: string; readonly asks: boolean }
  | { readonly kind: "permissions"; readonly key: string; readonly reason: string | null }
  | {
      readonly kind: "network";
      readonly host: string;
      readonly port: number;
      readonly protocol: NetworkProtocol;
      /** What the configuration says about the host. */
      readonly listed?: "allow" | "deny" | null;
    };

/** What is known when something needs consent. */
export interface ConsentRequest {
  readonly what: Intent;
  readonly policy: AskForApproval;
  readonly sandbox: SandboxPolicy;
  /** The workspace: what commands may write in the sandbox `workspaceWrite`. */
  readonly roots: readonly string[];
  /** Why this machine has no sandbox; null if it has one. */
  readonly sandboxProblem: string | null;
  /** Why a command with network could connect to this host and answer its own questions; null if it could not. */
  readonly listenerProblem?: string | null;
  readonly rules: Rules;
  /** Keys of what people allowed for all things like it. */
  readonly grants: readonly string[];
  /** What needs no approval is asked about, too: a model judges all that the turn does. */
  readonly strict?: boolean;
  /** Nothing of this thread may leave the sandbox, whatever rules or people say. */
  readonly confined?: boolean;
}

export type Consent =
  | { readonly kind: "sandboxed" }
  | { readonly kind: "unsandboxed"; readonly because: string }
  | {
      readonly kind: "ask";
      /** For people; null if the question says it all. */
      readonly reason: string | null;
      /** The words that a person may allow for good, if that may be offered. */
      readonly amendment: readonly string[] | null;
      /** The key to remember for `acceptForSession`. */
      readonly grant: string;
      readonly runs: "sandboxed" | "unsandboxed";
    }
  /** In words for the model. */
  | { readonly kind: "refuse"; readonly reason: string };

/** Whether people may be asked a question of a kind. */
export function mayAsk(
  policy: AskForApproval,
  kind: "sandbox_approval" | "rules" | "mcp_elicitations" | "request_permissions",
): boolean {
  return typeof policy === "object" ? (policy.granular[kind] ?? false) : policy !== "never";
}
