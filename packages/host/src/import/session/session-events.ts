import type {
  FileUpdateChange,
  GitInfo,
  MessagePhase,
  SessionSource,
  ThreadTokenUsage,
  UserInput,
} from "@bobbin/protocol";

/**
 * An event of another agent's session, independent of the file format, in the order of time. Times are in
 * milliseconds.
 */
export type SessionEvent =
  /** A turn starts. If this event is missing, a user message starts a turn. */
  | { readonly kind: "turn"; readonly at: number; readonly turnId?: string | undefined }
  | { readonly kind: "user"; readonly at: number; readonly content: readonly UserInput[] }
  | {
      readonly kind: "agent";
      readonly at: number;
      readonly text: string;
      readonly phase?: MessagePhase | undefined;
    }
  | { readonly kind: "reasoning"; readonly at: number; readonly summary: readonly string[] }
  | { readonly kind: "call"; readonly at: number; readonly call: SessionCall }
  | {
      readonly kind: "output";
      readonly at: number;
      readonly callId: string;
      /** Output as the model got it. */
      readonly text: string;
      /** Output as the command printed it, if different. */
      readonly printed?: string | undefined;
      readonly success: boolean;
      readonly exitCode?: number | undefined;
    }
  /** A web search by the model's provider. */
  | { readonly kind: "search"; readonly at: number; readonly query: string }
  /** From here on, this summary replaces the earlier history for the model. */
  | { readonly kind: "compacted"; readonly at: number; readonly summary: string }
  | { readonly kind: "usage"; readonly at: number; readonly usage: ThreadTokenUsage }
  | { readonly kind: "end"; readonly at: number; readonly status: "completed" | "interrupted" }
  /** The user dropped this many turns (rollback). */
  | { readonly kind: "dropped"; readonly at: number; readonly turns: number }
  | { readonly kind: "name"; readonly name: string };

/** A tool call. */
export interface SessionCall {
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | null;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
  readonly custom?: boolean | undefined;
  /** The command line, for a call that runs a command. */
  readonly command?: string | undefined;
  readonly cwd?: string | undefined;
  /** Returns the file changes of the call; undefined if the patch cannot be parsed. */
  readonly changes?: ((cwd: string) => readonly FileUpdateChange[] | undefined) | undefined;
  /** MCP server and name of the tool there, for a call of an MCP tool. */
  readonly mcp?: { readonly server: string; readonly tool: string } | undefined;
}

/** Facts about a session that are known before its events are read. */
export interface SessionHead {
  readonly threadId: string;
  readonly startedAt: number;
  readonly cwd: string;
  readonly source: SessionSource;
  readonly originator: string | null;
  readonly cliVersion: string;
  readonly forkedFromId: string | null;
  readonly gitInfo: GitInfo | null;
  /** Model and provider, if the file names them. */
  readonly model: string | null;
  readonly modelProvider: string | null;
  readonly archived: boolean;
}

/** An image as a part of a user message. */
export function image(url: string): UserInput {
  return { type: "image", url } as UserInput;
}

export interface Session {
  readonly head: SessionHead;
  readonly events: AsyncIterable<SessionEvent>;
}
