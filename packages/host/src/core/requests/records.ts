import type {
  NetworkApprovalProtocol,
  ServerRequestParams,
  ThreadRequestName,
  ThreadTokenUsage,
  TokenUsageBreakdown,
} from "@bobbin/protocol";

export type RequestRecord =
  | { readonly type: "requestSent"; readonly request: PendingRequest }
  | {
      readonly type: "requestResolved";
      readonly at: number;
      readonly requestId: number;
      readonly answer: RequestAnswer;
      /** Whether a secret of the request is stored outside of the journal. The secret can be erased now. */
      readonly sealed?: boolean;
    }
  /** A user permanently allowed or denied a network host. The rule is not yet in the rules file. */
  | { readonly type: "networkRuleDecided"; readonly at: number; readonly rule: DueNetworkRule }
  /** The rule was written to the rules file. */
  | { readonly type: "networkRuleSaved"; readonly at: number; readonly requestId: number }
  /** An MCP server has used the thread's model (MCP sampling) during a call. */
  | {
      readonly type: "serverSampled";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly server: string;
      readonly spent: TokenUsageBreakdown;
      readonly usage: ThreadTokenUsage;
    };

/** A decided rule about a network host. The rules file may not contain the rule yet. */
export interface DueNetworkRule {
  /** The ID of the approval request that a user answered with this rule. */
  readonly requestId: number;
  readonly host: string;
  readonly protocol: NetworkApprovalProtocol;
  readonly decision: "allow" | "deny";
}

/** A server request to clients, without its ID. */
export type Ask = {
  readonly [N in ThreadRequestName]: { readonly method: N; readonly params: ServerRequestParams<N> };
}[ThreadRequestName];

/** A server request that waits for its answer. Its ID is the same on every connection, and after a restart. */
export type PendingRequest = Ask & {
  readonly id: number;
  readonly at: number;
  /** The turn and the tool call that the request is for. `turnId` is empty for calls of clients. */
  readonly turnId: string;
  readonly callId: string;
  /** The tool's own ID of the question. Needed if a call asks several questions. */
  readonly question?: string | undefined;
  /** The parameter `arguments` as JSON text, if it contains numbers that JavaScript cannot represent. */
  readonly argumentsJson?: string | undefined;
  /** Set if the call continues while the request is open. The answer then does not affect the call's progress. */
  readonly aside?: Aside | undefined;
};

/** Why a request was made that its call does not wait for. */
export type Aside =
  /** A tool server asks the user to choose. */
  | {
      readonly kind: "choice";
      /** The tool server's name in the configuration. */
      readonly server: string;
      /** The URL that the answer is posted to. */
      readonly responseUrl: string;
      readonly choices: readonly string[];
      /** The index of the choice that is used if there is no answer. */
      readonly fallback: number;
      /** Identifies the question, so that a repeat is recognized. */
      readonly key?: string | undefined;
    }
  /** A tool server needs an authorization. The URL for the user is stored outside of the journal. */
  | { readonly kind: "oauth" }
  /** A command wants to connect to a network host. */
  | {
      readonly kind: "network";
      readonly host: string;
      readonly port: number;
      readonly protocol: NetworkApprovalProtocol;
      /** The grant that `acceptForSession` gives. */
      readonly grant: string;
      /** Whether a permanent rule is offered. Rules apply to all threads. */
      readonly forGood: boolean;
    }
  /** An MCP server asks during a call. */
  | {
      readonly kind: "server";
      /** The call was made by a client, and belongs to no turn. */
      readonly direct?: boolean | undefined;
      /** The URL for the user is stored outside of the journal. */
      readonly sealed?: boolean | undefined;
      /** The grant that an approval for the session gives. */
      readonly grant?: string | undefined;
    };

/** Whether a secret of the request is stored outside of the journal. */
export function isSealed({ aside }: Pick<PendingRequest, "aside">): boolean {
  return aside?.kind === "oauth" || (aside?.kind === "server" && aside.sealed === true);
}

export type RequestAnswer =
  | { readonly kind: "result"; readonly result: unknown }
  /** Every client that was asked has refused, or a client's answer was invalid. */
  | { readonly kind: "failed"; readonly message: string }
  /** No client answered before the deadline. */
  | { readonly kind: "expired" }
  /** The reviewing model denied the action. `words`: the reason for the model, which completes a sentence. */
  | { readonly kind: "denied"; readonly words: string }
  /** The request was withdrawn, because its call or turn has ended. */
  | { readonly kind: "cleared" };
