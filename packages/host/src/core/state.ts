import type {
  GitInfo,
  LoadSettings,
  ThreadItem,
  ThreadStatus,
  ThreadTokenUsage,
  TurnStatus,
} from "@bobbin/protocol";
import type { AsideReview, Denial } from "./approval-reviews/records.ts";
import type { HelpersState } from "./children/helper-thread-state.ts";
import type { Child, ChildWithEvent } from "./children/records.ts";
import type { GoalState } from "./goal/records.ts";
import type { ProjectDoc, ThreadFacts, ThreadSettings } from "./life/records.ts";
import type { Queue } from "./queue/records.ts";
import type { RapState } from "./rap/records.ts";
import type { ReadState } from "./read-state/records.ts";
import type { DueNetworkRule, PendingRequest } from "./requests/records.ts";
import type { TerminalState } from "./terminals/records.ts";
import type { AcceptedInput } from "./turn/accepted-inputs.ts";
import type { ContextEntry } from "./turn/additional-context.ts";
import type { CheckpointTurn } from "./turn/checkpoint-turn.ts";
import type { TurnChanges } from "./turn/file-changes.ts";
import type { TurnPhase } from "./turn/phase.ts";
import type { TurnKind } from "./turn/records.ts";
import type { TurnSettings } from "./turn/turn-settings.ts";

/**
 * The state of a thread: the fold of its journal. Plain data, because checkpoints contain it. Items of ended turns are
 * only in the journal.
 */
export interface ThreadState {
  readonly facts: ThreadFacts;
  readonly settings: ThreadSettings;
  /** The settings of the current load. */
  readonly load: LoadSettings;
  readonly docs: readonly ProjectDoc[];
  /** Settings that take effect at the next load. */
  readonly pendingLoad: LoadSettings | null;
  /**
   * Counts the loads and adoptions of the thread. A commit with an older epoch was written by a host that had lost the
   * thread.
   */
  readonly epoch: number;
  /** The epoch at the start of the current load. */
  readonly loadEpoch: number;
  readonly createdAt: number;
  /** The time of the last turn's start or end, or of the creation. */
  readonly updatedAt: number;
  /** The time of the last record that has one. */
  readonly lastAt: number;
  /** The beginning of the first user message. */
  readonly preview: string;
  readonly hasUserMessage: boolean;
  readonly name: string | null;
  readonly gitInfo: GitInfo | null;
  readonly section: { readonly id: string; readonly position: number | null; readonly since: number } | null;
  /** The read state; missing until its first change. */
  readonly readState?: ReadState | undefined;
  readonly status: ThreadStatus;
  /** Whether the thread was closed and tool servers have to be notified of the close. */
  readonly untold: boolean;
  /** When tool servers were last notified of the thread's close. */
  readonly toldAt: number | null;
  readonly usage: ThreadTokenUsage | null;
  /** An estimate of the tokens of the conversation. */
  readonly contextTokens: number;
  /**
   * The last inputs that had an ID from their sender, with the turns that took them. Repeated inputs are recognized
   * by the ID.
   */
  readonly accepted: readonly AcceptedInput[];
  /** The additional context of the last input that the model was shown. */
  readonly context: readonly ContextEntry[];
  readonly queue: Queue;
  /** The state of calls, subscriptions and views of tool servers. */
  readonly rap: RapState;
  readonly goal: GoalState | null;
  readonly turn: TurnState | null;
  /** Background terminals. */
  readonly terminals: readonly TerminalState[];
  /** Child threads that handle events and have not ended. */
  readonly children: readonly Child[];
  /** The thread's helpers, and the ends of helpers that the model was not informed of. */
  readonly helpers: HelpersState;
  /** Server requests that wait for an answer. */
  readonly requests: readonly PendingRequest[];
  /** Decided network rules that are not in the rules file yet. */
  readonly networkRules: readonly DueNetworkRule[];
  /** Keys of the user's grants, which last until the thread is unloaded. */
  readonly grants: readonly string[];
  /** The times of grants by key, where known. */
  readonly grantTimes?: Readonly<Record<string, number>> | undefined;
  /** Running reviews of network connections, which the tool calls do not wait for; missing if there are none. */
  readonly asideReviews?: readonly AsideReview[] | undefined;
  /** The last actions that the reviewing model denied; missing if there are none. */
  readonly denials?: readonly Denial[] | undefined;
  /** The IDs of the last tool calls. A model may use an ID twice; new calls are compared with these. */
  readonly callIds: readonly string[];
  /** The number of all tool calls. */
  readonly callCount: number;
  /**
   * Whether turns may have been rolled back. If not, the journal can be read forwards, because no later record drops
   * turns.
   */
  readonly mayHaveDropped: boolean;
  /** The last turn, if it was interrupted before clients got its whole diff. */
  readonly undiffed?: { readonly turnId: string; readonly changes: TurnChanges } | undefined;
  /** The load for which the start hooks have run; 0 after a compaction, missing if the hooks never ran. */
  readonly startHooks?: { readonly epoch: number } | undefined;
  /** The last turn that ended. */
  readonly lastTurn: { readonly id: string; readonly status: TurnStatus } | null;
}

type AddedLater = "lastAt" | "mayHaveDropped" | "terminals" | "children" | "helpers" | "networkRules";

/** The state in a checkpoint. Fields that were added later are missing in older checkpoints. */
export type CheckpointState = Omit<ThreadState, AddedLater | "rap" | "turn"> &
  Partial<Pick<ThreadState, AddedLater>> & {
    readonly rap: RapState & { readonly children?: readonly ChildWithEvent[] | undefined };
    readonly turn: CheckpointTurn | null;
  };

/** The running turn. */
export interface TurnState {
  readonly id: string;
  readonly startedAt: number;
  readonly outputSchema: unknown;
  readonly kind: TurnKind;
  /** The number of the current model call. */
  readonly attempt: number;
  readonly phase: TurnPhase;
  /** Whether there is input that no model call has seen. */
  readonly pendingInput: boolean;
  /** The number of retries since the last complete answer. */
  readonly retries: number;
  /** The number of hosts that died since the last complete answer. */
  readonly lostHosts: number;
  /** Whether clients have injected items since the last model call. */
  readonly injected: boolean;
  /** The thread's number of tool calls before this turn; missing in older checkpoints. */
  readonly callsBefore?: number;
  /** The number of complete answers of the model. */
  readonly answers: number;
  /** Whether a compaction has succeeded or failed since the last complete answer. */
  readonly compacted: "no" | "done" | "failed";
  /** The number of plans that the turn has proposed. */
  readonly plans: number;
  /** The model that answers instead of the requested one; null if the requested one answers. */
  readonly servedBy: string | null;
  /** The last completed agent message. */
  readonly answer: ThreadItem | null;
  /** Items that were started and have not completed. */
  readonly open: readonly ThreadItem[];
  /** The texts of open items in `textSaved` records, by `textKey`. Of a command's output only the end. */
  readonly saved: Readonly<Record<string, string>>;
  /** Whether a model reviews every command and patch, even those that need no approval. */
  readonly strictReview?: boolean | undefined;
  /** The last reviews by a model: true for a denial; missing if there were none. */
  readonly reviews?: readonly boolean[] | undefined;
  /** Settings for this turn only, and which of them were in force when the current model call started. */
  readonly settings?: TurnSettings | undefined;
  readonly stepSettings?: TurnSettings | undefined;
  /** The turn's file changes; missing if no call could change files. */
  readonly changes?: TurnChanges | undefined;
  /** The turn of the root thread that this turn works for; missing in the root thread. */
  readonly rootTurnId?: string | undefined;
  /** How often stop hooks made the model continue; missing if they never did. */
  readonly stopBlocks?: number | undefined;
}
