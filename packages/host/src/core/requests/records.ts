import type { NetworkApprovalProtocol, ServerRequestName, ServerRequestParams } from "@bobbin/protocol";

export type RequestRecord =
  | { readonly type: "requestSent"; readonly request: PendingRequest }
  | {
      readonly type: "requestResolved";
      readonly at: number;
      readonly requestId: number;
      readonly answer: RequestAnswer;
      /** Part of the question was kept elsewhere, and is of no more use. */
      readonly sealed?: boolean;
    }
  /** Somebody decided about a host for good. The rules file has to get it. */
  | { readonly type: "networkRuleDecided"; readonly at: number; readonly rule: DueNetworkRule }
  /** The rules file has it. */
  | { readonly type: "networkRuleSaved"; readonly at: number; readonly requestId: number };

/** A rule for a host that its rules file may not have yet. */
export interface DueNetworkRule {
  /** The question that it answers. */
  readonly requestId: number;
  readonly host: string;
  readonly protocol: NetworkApprovalProtocol;
  readonly decision: "allow" | "deny";
}

/** A question to clients. */
export type Ask = {
  readonly [N in ServerRequestName]: { readonly method: N; readonly params: ServerRequestParams<N> };
}[ServerRequestName];

/** One that waits for its answer. Its id is the same on every connection, and after a restart. */
export type PendingRequest = Ask & {
  readonly id: number;
  readonly at: number;
  /** The turn that asks, and the tool call that it asks for. */
  readonly turnId: string;
  readonly callId: string;
  /** The tool's own name for the question, where a call may ask several. */
  readonly question?: string | undefined;
  /** The member `arguments` of the params as JSON, where it has numbers that JavaScript cannot hold. */
  readonly argumentsJson?: string | undefined;
  /** It is asked beside the call, which goes on waiting: the answer is no step of it. */
  readonly aside?: Aside | undefined;
};

/** What is asked for a call that goes on meanwhile. */
export type Aside =
  | {
      readonly kind: "choice";
      /** As the configuration names it. */
      readonly server: string;
      /** Where the answer goes. */
      readonly responseUrl: string;
      readonly choices: readonly string[];
      /** The index that counts when nothing is chosen. */
      readonly fallback: number;
      /** By this the same question is known again. */
      readonly key?: string | undefined;
    }
  /** The address that the user has to visit is kept elsewhere. */
  | { readonly kind: "oauth" }
  /** A command wants to connect to a host. */
  | {
      readonly kind: "network";
      readonly host: string;
      readonly port: number;
      readonly protocol: NetworkApprovalProtocol;
      /** What the user agrees to with `acceptForSession`. */
      readonly grant: string;
      /** Whether it may be decided for good: a rule is for all threads of the host. */
      readonly forGood: boolean;
    };

export type RequestAnswer =
  | { readonly kind: "result"; readonly result: unknown }
  /** Every client that was asked says that it can not, or one answered what makes no sense. */
  | { readonly kind: "failed"; readonly message: string }
  /** Nobody was there to answer in time. */
  | { readonly kind: "expired" }
  /** A reviewer said no in place of a person; `words`: the end of a sentence for the model. */
  | { readonly kind: "denied"; readonly words: string }
  /** What asked has ended: the answer no longer matters. */
  | { readonly kind: "cleared" };
