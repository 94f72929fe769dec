import type { NetworkApprovalProtocol, TokenUsageBreakdown } from "@bobbin/protocol";
import type { ServerQuestion } from "./mcp-server-questions.ts";

/** Questions of MCP servers to users. */
export type ServerQuestionCommand =
  | {
      readonly kind: "askForServer";
      readonly at: number;
      readonly requestId: number;
      readonly callId: string;
      /** Whether the call was made by a client, not by the model. */
      readonly direct: boolean;
      readonly server: string;
      readonly question: ServerQuestion;
      /** Whether the URL of the question is stored outside of the journal. */
      readonly sealed: boolean;
      /** The grant that the user gives by an approval for the session; null if that choice is not offered. */
      readonly grant: string | null;
    }
  /** An MCP server has used the thread's model (MCP sampling). */
  | {
      readonly kind: "serverSampled";
      readonly at: number;
      readonly callId: string;
      readonly server: string;
      readonly usage: TokenUsageBreakdown;
    }
  /** The MCP server has withdrawn its question. */
  | { readonly kind: "withdrawQuestion"; readonly at: number; readonly requestId: number };

/** Commands about network access of programs. */
export type NetworkCommand =
  /** A running command wants to connect to a host. */
  | {
      readonly kind: "askNetwork";
      readonly at: number;
      readonly requestId: number;
      /** The ID of the review, if a model decides in place of a person. */
      readonly reviewId: string;
      readonly itemId: string;
      readonly host: string;
      readonly port: number;
      readonly protocol: NetworkApprovalProtocol;
      readonly grant: string;
      readonly forGood: boolean;
      readonly reason: string | null;
    }
  /** The rule about a host was written to the rules file. */
  | { readonly kind: "networkRuleSaved"; readonly at: number; readonly requestId: number };
