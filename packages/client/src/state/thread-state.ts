import type {
  QueuedSubmission,
  RequestId,
  Result,
  ServerRequestParams,
  Thread,
  ThreadGoal,
  ThreadItem,
  ThreadReadState,
  ThreadRequestName,
  ThreadStatus,
  ThreadTokenUsage,
  Turn,
  TurnError,
  TurnPlanStep,
} from "@bobbin/protocol";
import type { Notification } from "../run-turn.ts";
import type { RunningItem } from "./running-item.ts";

/** A question of the host about a thread that waits for an answer; a union that is discriminated by `method`. */
export type PendingRequest = {
  [N in ThreadRequestName]: {
    readonly id: RequestId;
    readonly method: N;
    readonly params: ServerRequestParams<N>;
  };
}[ThreadRequestName];

/** The settings of a loaded thread. */
export interface LoadedSettings {
  /** The model that answers. */
  readonly model: string;
  /** The provider of the model, such as `openai`. */
  readonly modelProvider: string;
  /** The folder in which commands run. */
  readonly cwd: string;
  /** How much the model thinks. Null is the model's default. */
  readonly effort: Result<"thread/start">["reasoningEffort"];
  /** When the model has to ask before it acts. */
  readonly approvalPolicy: Result<"thread/start">["approvalPolicy"];
  /** Who answers approvals: people, or a model. */
  readonly approvalsReviewer: Result<"thread/start">["approvalsReviewer"];
  /** What commands may read and write. */
  readonly sandbox: Result<"thread/start">["sandbox"];
  /** The service tier of the provider. Null is its default. */
  readonly serviceTier: string | null;
}

/** A turn with its items in order. */
export interface TurnState extends Omit<Turn, "items"> {
  /**
   * In the order in which they started. A running item is as it was when it started: `currentItem` adds the text that
   * has streamed since.
   */
  readonly items: readonly ThreadItem[];
  /** The plan that the model announced last. Replies do not have it: it is null for turns that were not followed. */
  readonly plan: { readonly explanation: string | null; readonly steps: readonly TurnPlanStep[] } | null;
  /** Unified diff of the files that the turn changed. Replies do not have it. */
  readonly diff: string | null;
  /** Set while the host waits to call the model again after a fault. Replies do not have it. */
  readonly retrying: TurnError | null;
}

/** Everything that a client knows of one thread. Immutable: `reduceThread` makes the next one. */
export interface ThreadState {
  /** The id of the thread. */
  readonly id: string;
  /** The thread as the last reply or `thread/started` had it. Null until then. */
  readonly thread: Omit<Thread, "turns"> | null;
  /** Whether the thread is loaded, and whether a turn runs. */
  readonly status: ThreadStatus;
  /** The name that a user gave the thread; null if it has none. */
  readonly name: string | null;
  /** The settings as of the last load. Null until the thread is loaded. */
  readonly settings: LoadedSettings | null;
  /** Oldest first. */
  readonly turns: readonly TurnState[];
  /** Items that have started and not ended, by id, with the text that has streamed since. */
  readonly running: ReadonlyMap<string, RunningItem>;
  /** Questions without an answer, oldest first. */
  readonly requests: readonly PendingRequest[];
  /** Tokens that the thread has used. Null until the model has reported some. */
  readonly tokenUsage: ThreadTokenUsage | null;
  /** The goal that the thread works towards, if it has one. */
  readonly goal: ThreadGoal | null;
  /** Input that waits for the running turn to end. */
  readonly queue: readonly QueuedSubmission[];
  /** How far the user has read. */
  readonly readState: ThreadReadState | null;
  /** The last warnings of the host about this thread, at most 20. */
  readonly warnings: readonly string[];
  /** Whether the thread was archived while it was followed. */
  readonly archived: boolean;
  /** Whether the thread was deleted while it was followed. */
  readonly deleted: boolean;
  /** The last cursor: `afterCursor` of the next `thread/resume`. Null if there is none since the last whole reply. */
  readonly cursor: string | null;
  /** Parts of the state that are out of date: the host did not send a change. Read them, and reduce the reply. */
  readonly stale: { readonly turns: boolean; readonly queue: boolean };
}

/** A fork replies as a start does. */
type LoadReply = Result<"thread/start"> | Result<"thread/resume">;

/** Everything that changes a thread's state: what the host sends, and replies to requests. */
export type ThreadEvent =
  /** Any notification. Those about other threads change nothing. */
  | Notification
  /** A server request. `serverRequest/resolved` removes it. */
  | PendingRequest
  /**
   * The reply to `thread/start`, `thread/resume` or `thread/fork`. `again`: this connection followed the thread before, so
   * the host does not repeat the running text.
   */
  | { readonly type: "loaded"; readonly result: LoadReply; readonly again?: boolean }
  /** The reply to `thread/read`. */
  | { readonly type: "read"; readonly thread: Thread; readonly includesTurns: boolean }
  /** Turns before those that are known, oldest first: a page of `thread/turns/list`. */
  | { readonly type: "olderTurns"; readonly turns: readonly Turn[] }
  /** The whole queue: the reply to `thread/queue/list`. */
  | { readonly type: "queue"; readonly submissions: readonly QueuedSubmission[] }
  /** The reply to `thread/goal/get`. */
  | { readonly type: "goal"; readonly goal: ThreadGoal | null };

const NOTHING_RUNS: ReadonlyMap<string, RunningItem> = new Map();

/**
 * The state of a thread of which nothing is known yet.
 *
 * @example
 * let state = emptyThread(threadId);
 * client.onNotification((notification) => {
 *   state = reduceThread(state, notification);
 * });
 */
export function emptyThread(id: string): ThreadState {
  return {
    id,
    thread: null,
    status: { type: "notLoaded" },
    name: null,
    settings: null,
    turns: [],
    running: NOTHING_RUNS,
    requests: [],
    tokenUsage: null,
    goal: null,
    queue: [],
    readState: null,
    warnings: [],
    archived: false,
    deleted: false,
    cursor: null,
    stale: { turns: false, queue: false },
  };
}

/**
 * The turn that runs, if one does.
 *
 * @example
 * const turn = runningTurn(state);
 * if (turn) await client.request("turn/interrupt", { threadId: state.id, turnId: turn.id });
 */
export function runningTurn({ turns }: ThreadState): TurnState | undefined {
  return turns.findLast(({ status }) => status === "inProgress");
}
