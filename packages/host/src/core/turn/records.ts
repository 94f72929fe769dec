import type {
  FunctionCallOutputBody,
  ThreadItem,
  ThreadTokenUsage,
  TokenUsageBreakdown,
  TurnError,
  TurnPlanStep,
  TurnStatus,
  UserInput,
} from "@bobbin/protocol";
import type { Blobs } from "./blobs.ts";
import type { FilesBefore, WorkingTree } from "./changes.ts";
import type { ContextEntry } from "./given-context.ts";
import type { TextPart } from "./texts.ts";

export type TurnRecord =
  | {
      readonly type: "turnStarted";
      readonly turnId: string;
      readonly at: number;
      readonly input: readonly UserInput[];
      readonly outputSchema: unknown;
      /** Where it is none that people speak in. */
      readonly kind?: Exclude<TurnKind, "regular"> | "shell" | undefined;
    }
  /** A client's own name for input that was taken: the same input again is known by it. */
  | { readonly type: "inputAccepted"; readonly turnId: string; readonly messageId: string }
  /** What a client said beside input, as far as the model is not shown it already; `kept`: what goes on to hold. */
  | {
      readonly type: "contextGiven";
      readonly turnId: string;
      readonly at: number;
      readonly entries: readonly ContextEntry[];
      readonly kept: readonly string[];
    }
  /** The model is due to be called; an attempt that it follows no longer counts. */
  | { readonly type: "sampleRequested"; readonly turnId: string; readonly attempt: number }
  /** The call that was just requested takes the place of one that failed, and waits until then. */
  | {
      readonly type: "retrying";
      readonly turnId: string;
      readonly at: number;
      readonly until: number;
      readonly retry: number;
      readonly of: number;
      readonly error: TurnError;
    }
  | { readonly type: "itemStarted"; readonly turnId: string; readonly at: number; readonly item: ThreadItem }
  /** More of a running item's text, so that a crash loses little of it. */
  | {
      readonly type: "textSaved";
      readonly turnId: string;
      readonly itemId: string;
      readonly part?: TextPart | undefined;
      readonly text: string;
    }
  | {
      readonly type: "itemCompleted";
      readonly turnId: string;
      readonly at: number;
      readonly item: ThreadItem;
      readonly carry?: Carry | undefined;
      /** What the model said, where clients are shown it in parts or in another way. */
      readonly said?: string | undefined;
      /** It is not whole. */
      readonly cut?: Cut | undefined;
      /** What a user's message names as files, as it was then. */
      readonly blobs?: Blobs | undefined;
    }
  | { readonly type: "toolCalled"; readonly turnId: string; readonly at: number; readonly call: ToolCall }
  /** The tool is about to act on the world. `again`: after a crash it may be told to once more. */
  | {
      readonly type: "toolDispatched";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly again: boolean;
      /** The tool server that is called, as the configuration names it. */
      readonly via?: string | undefined;
      /** When the call has had its time, if it has a deadline. */
      readonly until?: number | undefined;
      /** What the tool is about to do, where a host that follows a lost one has to know. */
      readonly plan?: unknown;
      /** The files that it may change, as they were. */
      readonly before?: FilesBefore | undefined;
    }
  /** The tool has taken the call, and its answer comes by itself; null: whenever that is. */
  | {
      readonly type: "toolWaiting";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly until: number | null;
      /** The host was lost before it heard whether the tool has taken the call. */
      readonly unacknowledged?: boolean | undefined;
    }
  | {
      readonly type: "toolAnswered";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly output: FunctionCallOutputBody;
      readonly success: boolean;
      /** What stands for large parts of the output, and what those are kept under. */
      readonly blobs?: Blobs | undefined;
    }
  /** Nobody waits for the call any more: whoever works on it may stop. */
  | { readonly type: "callCancelled"; readonly turnId: string; readonly at: number; readonly callId: string }
  /** The user has agreed to calls of this kind until the thread is unloaded. */
  | {
      readonly type: "approvalGranted";
      readonly turnId: string;
      readonly key: string;
      /** Missing in journals of earlier versions. */
      readonly grantedAt?: number | undefined;
    }
  | {
      readonly type: "planUpdated";
      readonly turnId: string;
      readonly explanation: string | null;
      readonly plan: readonly TurnPlanStep[];
    }
  /**
   * What the turn has changed in files, after so many of its calls that may change some. `diff` null: clients have it, or
   * are sent it later.
   */
  | {
      readonly type: "turnDiffed";
      readonly turnId: string;
      readonly at: number;
      readonly upTo: number;
      readonly diff: string | null;
      readonly digest: string;
      /** The working trees of git as they were then. */
      readonly trees: readonly WorkingTree[];
    }
  /** The model is due to be asked for a summary, in place of an answer. */
  | ({
      readonly type: "compactionRequested";
      readonly turnId: string;
      readonly at: number;
      readonly attempt: number;
    } & Compacting)
  /** From here on the model is shown this in place of what the attempt covers. */
  | {
      readonly type: "compacted";
      readonly turnId: string;
      readonly at: number;
      readonly attempt: number;
      readonly summary: string;
      /** Oldest first; it stands before the summary. */
      readonly kept: readonly Kept[];
      /** What it took to make. */
      readonly spent: TokenUsageBreakdown;
      readonly usage: ThreadTokenUsage;
    }
  /** It was worth a try: the turn goes on without. */
  | {
      readonly type: "compactionFailed";
      readonly turnId: string;
      readonly at: number;
      readonly error: TurnError;
    }
  /** The provider answers with another model than was asked for. */
  | {
      readonly type: "modelRerouted";
      readonly turnId: string;
      readonly at: number;
      readonly from: string;
      readonly to: string;
    }
  /** The model's answer broke off, but tools that it called are at work: it is called again when they are done. */
  | { readonly type: "sampleLost"; readonly turnId: string; readonly attempt: number }
  /** The model has said all of one answer. */
  | { readonly type: "usageReported"; readonly turnId: string; readonly usage: ThreadTokenUsage }
  | {
      readonly type: "turnEnded";
      readonly turnId: string;
      readonly startedAt: number;
      readonly at: number;
      readonly status: Exclude<TurnStatus, "inProgress">;
      readonly error: TurnError | null;
      /** The last thing that the model said: a client that shows nothing else shows this. */
      readonly answer: ThreadItem | null;
    };

/** What a model wants back with an item, unseen by clients: only the provider that gave it can read it. */
export interface Carry {
  readonly provider: string;
  readonly data: unknown;
}

export type TurnKind = "regular" | "compact" | "review";

/** A summary that is being made. */
export interface Compacting {
  /** Everything up to here, or only what was before the turn. */
  readonly covers: "past" | "all";
  /** How often the model has found it too long to read. */
  readonly lighter: number;
  /** What the model said when it refused the conversation, if it is done for that. */
  readonly because: TurnError | null;
}

/** What a compaction leaves as it was: the last words of users, what clients put in, and what a turn is for or came with. */
export type Kept =
  | {
      readonly kind: "user";
      readonly turnId: string;
      readonly content: readonly UserInput[];
      readonly clientId: string | null;
      readonly blobs?: Blobs | undefined;
    }
  | { readonly kind: "injected"; readonly item: unknown }
  | { readonly kind: "goal"; readonly turnId: string; readonly text: string }
  | { readonly kind: "context"; readonly turnId: string; readonly entries: readonly ContextEntry[] };

/** Why an item ended early: the model was lost, someone interrupted, or more input came. */
export type Cut = "fault" | "interrupt" | "input";

export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | null;
  /** As the model wrote them: JSON for a function, any text for a custom tool. */
  readonly arguments: string;
  readonly kind: "function" | "custom";
}
