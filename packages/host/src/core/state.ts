import type {
  GitInfo,
  LoadSettings,
  ThreadItem,
  ThreadStatus,
  ThreadTokenUsage,
  TurnStatus,
} from "@bobbin/protocol";
import type { Child, ChildWithEvent } from "./children/records.ts";
import type { GoalState } from "./goal/records.ts";
import type { ProjectDoc, ThreadFacts, ThreadSettings } from "./life/records.ts";
import type { Queue } from "./queue/records.ts";
import type { RapState } from "./rap/records.ts";
import type { DueNetworkRule, PendingRequest } from "./requests/records.ts";
import type { AsideReview, Denial } from "./reviews/records.ts";
import type { TerminalState } from "./terminals/records.ts";
import type { AcceptedInput } from "./turn/accepted.ts";
import type { CallState } from "./turn/calls.ts";
import type { TurnChanges } from "./turn/changes.ts";
import type { ContextEntry } from "./turn/given-context.ts";
import type { Compacting, TurnKind } from "./turn/records.ts";

/**
 * A thread's head: what the fold of its journal leaves. Plain data, because checkpoints hold it. Items of ended
 * turns stay in the journal.
 */
export interface ThreadState {
  readonly facts: ThreadFacts;
  readonly settings: ThreadSettings;
  /** Bound when the thread was loaded. */
  readonly load: LoadSettings;
  readonly docs: readonly ProjectDoc[];
  /** Bound at the next load. */
  readonly pendingLoad: LoadSettings | null;
  /** Counts the loads; a commit of an older epoch was written by a host that lost the thread. */
  readonly epoch: number;
  /** The epoch that its present load began with. */
  readonly loadEpoch: number;
  readonly createdAt: number;
  /** The last turn's start or end, or the creation. */
  readonly updatedAt: number;
  /** The time of the last record that has one. */
  readonly lastAt: number;
  /** The first user message's text, shortened. */
  readonly preview: string;
  readonly hasUserMessage: boolean;
  readonly name: string | null;
  readonly gitInfo: GitInfo | null;
  readonly section: { readonly id: string; readonly position: number | null; readonly since: number } | null;
  readonly status: ThreadStatus;
  /** It was closed, and tool servers were not told yet. */
  readonly untold: boolean;
  /** When they were last told. */
  readonly toldAt: number | null;
  readonly usage: ThreadTokenUsage | null;
  /** How much of the model's window the conversation takes, about. */
  readonly contextTokens: number;
  /** The last input that clients gave a name of their own, and the turn that took it. */
  readonly accepted: readonly AcceptedInput[];
  /** What clients said beside the input that came last, and the model was shown. */
  readonly context: readonly ContextEntry[];
  readonly queue: Queue;
  /** What tool servers have to do with it. */
  readonly rap: RapState;
  readonly goal: GoalState | null;
  readonly turn: TurnState | null;
  /** Commands that go on after the calls that started them. */
  readonly terminals: readonly TerminalState[];
  /** Threads that it has begun, and that are not over. */
  readonly children: readonly Child[];
  /** Questions to clients that wait for an answer. */
  readonly requests: readonly PendingRequest[];
  /** Rules for hosts that were decided and not saved yet. */
  readonly networkRules: readonly DueNetworkRule[];
  /** What the user has agreed to until the thread is unloaded. */
  readonly grants: readonly string[];
  /** When each of them was given, by its key, where that is known. */
  readonly grantTimes?: Readonly<Record<string, number>> | undefined;
  /** Reviews beside calls that go on; missing if none runs. */
  readonly asideReviews?: readonly AsideReview[] | undefined;
  /** What a reviewer denied last; missing as long as it denied nothing. */
  readonly denials?: readonly Denial[] | undefined;
  /** Names that models gave to the last calls; they may not know that they gave one before. */
  readonly callIds: readonly string[];
  /** How many calls there were in all. */
  readonly callCount: number;
  /** Turns may have been dropped. False: none ever was, so the journal can be read from the front without a look ahead. */
  readonly mayHaveDropped: boolean;
  /** A turn that ended before clients were shown all that it has changed in files: an interrupt does not wait for that. */
  readonly undiffed?: { readonly turnId: string; readonly changes: TurnChanges } | undefined;
  /** How the turn before ended. */
  readonly lastTurn: { readonly id: string; readonly status: TurnStatus } | null;
}

type AddedLater = "lastAt" | "mayHaveDropped" | "terminals" | "children" | "networkRules";

/** A head as checkpoints hold it: those of earlier versions lack what was added since. */
export type CheckpointState = Omit<ThreadState, AddedLater | "rap"> &
  Partial<Pick<ThreadState, AddedLater>> & {
    readonly rap: RapState & { readonly children?: readonly ChildWithEvent[] | undefined };
  };

/** The running turn. */
export interface TurnState {
  readonly id: string;
  readonly startedAt: number;
  readonly outputSchema: unknown;
  readonly kind: TurnKind;
  /** Which call of the model counts. */
  readonly attempt: number;
  /** There is input that no call of the model has seen. */
  readonly unheard: boolean;
  /** That call has come to its end: what is still missing is answers of tools. */
  readonly sampled: boolean;
  /** How often the model was called again since it last came to an end, and when the last of these is due. */
  readonly retries: number;
  readonly retryAt: number | null;
  /** Clients were shown something of it. */
  readonly shown: boolean;
  /** How many hosts were lost since the model last came to an end. */
  readonly lostHosts: number;
  /** Clients have put something into the history since the model was called. */
  readonly injected: boolean;
  /** How many calls of tools the thread had before it; missing in checkpoints of earlier versions. */
  readonly callsBefore?: number;
  /** How many calls of the model have come to their end. */
  readonly answers: number;
  /** Set while the model is asked for a summary in place of an answer. */
  readonly compacting: Compacting | null;
  /** Whether that was done, or tried in vain, since the model last came to an end. */
  readonly compacted: "no" | "done" | "failed";
  /** How many plans it has proposed. */
  readonly plans: number;
  /** What the call asked of tools. */
  readonly calls: readonly CallState[];
  /** The model that answers in place of the one that was asked for, if one does. */
  readonly servedBy: string | null;
  /** The last agent message that completed. */
  readonly answer: ThreadItem | null;
  /** Items that were started and not completed. */
  readonly open: readonly ThreadItem[];
  /** Their texts as far as they were saved, by `textKey`. */
  readonly saved: Readonly<Record<string, string>>;
  /** A model has to allow each command and patch, too, that would need no approval; missing: it has not. */
  readonly strictReview?: boolean | undefined;
  /** Whether the last approvals that a model judged were denied; missing as long as it judged none. */
  readonly reviews?: readonly boolean[] | undefined;
  /** What it has done to files; missing as long as no call of it could. */
  readonly changes?: TurnChanges | undefined;
}
