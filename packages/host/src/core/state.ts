import type { ThreadItem, ThreadStatus, ThreadTokenUsage, TurnStatus } from "@bobbin/protocol";
import type { ThreadFacts, ThreadSettings } from "./life/records.ts";

/** A thread's head: what the fold of its journal leaves. Items of ended turns stay in the journal. */
export interface ThreadState {
  readonly facts: ThreadFacts;
  readonly settings: ThreadSettings;
  readonly createdAt: number;
  /** The last turn's start or end, or the creation. */
  readonly updatedAt: number;
  /** The first user message's text, shortened. */
  readonly preview: string;
  readonly status: ThreadStatus;
  readonly usage: ThreadTokenUsage | null;
  readonly turn: TurnState | null;
  /** How the turn before ended. */
  readonly lastTurn: { readonly id: string; readonly status: TurnStatus } | null;
}

/** The running turn. */
export interface TurnState {
  readonly id: string;
  readonly startedAt: number;
  readonly outputSchema: unknown;
  /** Which call of the model counts. */
  readonly attempt: number;
  /** The last agent message that completed. */
  readonly answer: ThreadItem | null;
  /** Items that were started and not completed, by id. */
  readonly open: ReadonlyMap<string, ThreadItem>;
}
