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
import type { Awaited } from "../children/helper-calls.ts";
import type { ContextEntry } from "./additional-context.ts";
import type { Blobs } from "./blobs.ts";
import type { FilesBefore, WorkingTree } from "./file-changes.ts";
import type { TextPart } from "./item-texts.ts";
import type { TurnSettings } from "./turn-settings.ts";

export type TurnRecord =
  | {
      readonly type: "turnStarted";
      readonly turnId: string;
      readonly at: number;
      readonly input: readonly UserInput[];
      readonly outputSchema: unknown;
      /** Missing for regular turns. */
      readonly kind?: Exclude<TurnKind, "regular"> | "shell" | undefined;
      /** The first item of a code review. Clients are sent it before `turn/started`. */
      readonly entered?: ThreadItem | undefined;
      /** The turn of the root thread that this turn works for, in helpers. */
      readonly rootTurnId?: string | undefined;
    }
  /** A turn took an input that has an ID from its sender. A repeated input is recognized by that ID. */
  | { readonly type: "inputAccepted"; readonly turnId: string; readonly messageId: string }
  /**
   * Additional context of an input: the entries that are new to the model, and the keys of earlier entries that stay
   * valid.
   */
  | {
      readonly type: "contextGiven";
      readonly turnId: string;
      readonly at: number;
      readonly entries: readonly ContextEntry[];
      readonly kept: readonly string[];
    }
  /** Settings were changed for this turn only, from its next model call on. */
  | {
      readonly type: "turnSettingsChanged";
      readonly turnId: string;
      readonly at: number;
      readonly changes: TurnSettings;
    }
  /** A model call is due. Output of earlier attempts is ignored from now on. */
  | { readonly type: "sampleRequested"; readonly turnId: string; readonly attempt: number }
  /** The model call that was just requested repeats a failed one, and starts at `until`. */
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
  /** A part of a running item's text, saved so that a crash loses little. */
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
      /** The model's own text, if the item shows another one. */
      readonly said?: string | undefined;
      /** Set if the item was cut off. */
      readonly cut?: Cut | undefined;
      /** The blobs of files that a user message names, or of large parts of a tool's result. */
      readonly blobs?: Blobs | undefined;
    }
  | { readonly type: "toolCalled"; readonly turnId: string; readonly at: number; readonly call: ToolCall }
  /** The tool is about to perform the call. `again`: it may be repeated after a crash, because it is idempotent. */
  | {
      readonly type: "toolDispatched";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly again: boolean;
      /** The name of the tool server in the configuration. */
      readonly via?: string | undefined;
      /** The deadline, if there is one. */
      readonly until?: number | undefined;
      /** What the tool is about to do, for a host that continues after a crash. */
      readonly plan?: unknown;
      /** The content of the files that the call may change. */
      readonly before?: FilesBefore | undefined;
    }
  /** The tool has accepted the call, and its answer arrives later. `until`: the deadline, or null. */
  | {
      readonly type: "toolWaiting";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly until: number | null;
      /** The host died before the tool acknowledged the call. */
      readonly unacknowledged?: boolean | undefined;
      readonly awaits?: Awaited | undefined;
    }
  | {
      readonly type: "toolAnswered";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly output: FunctionCallOutputBody;
      readonly success: boolean;
      /** The blobs that the output refers to. */
      readonly blobs?: Blobs | undefined;
    }
  /** The call was cancelled. Its tool server has to be notified. */
  | { readonly type: "callCancelled"; readonly turnId: string; readonly at: number; readonly callId: string }
  /** The user has granted calls of this kind until the thread is unloaded. */
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
   * The turn's file changes after `upTo` calls that may change files. `diff` is null if clients have this diff
   * already, or get it later.
   */
  | {
      readonly type: "turnDiffed";
      readonly turnId: string;
      readonly at: number;
      readonly upTo: number;
      readonly diff: string | null;
      readonly digest: string;
      /** Snapshots of the git working trees at that time. */
      readonly trees: readonly WorkingTree[];
    }
  /** A model call for a summary is due, in place of one for an answer. */
  | ({
      readonly type: "compactionRequested";
      readonly turnId: string;
      readonly at: number;
      readonly attempt: number;
    } & Compacting)
  /** The conversation was compacted: `kept` and the summary replace the covered part. */
  | {
      readonly type: "compacted";
      readonly turnId: string;
      readonly at: number;
      readonly attempt: number;
      readonly summary: string;
      /** The retained parts, oldest first. In the conversation they come before the summary. */
      readonly kept: readonly Retained[];
      /** The tokens that the summary cost. */
      readonly spent: TokenUsageBreakdown;
      readonly usage: ThreadTokenUsage;
    }
  /** The compaction failed. The turn continues without it. */
  | {
      readonly type: "compactionFailed";
      readonly turnId: string;
      readonly at: number;
      readonly error: TurnError;
    }
  /** The provider answers with another model than the requested one. */
  | {
      readonly type: "modelRerouted";
      readonly turnId: string;
      readonly at: number;
      readonly from: string;
      readonly to: string;
    }
  /** The model's answer was lost while its tool calls run. The model is called again when they are settled. */
  | { readonly type: "sampleLost"; readonly turnId: string; readonly attempt: number }
  /** An answer of the model is complete. */
  | { readonly type: "usageReported"; readonly turnId: string; readonly usage: ThreadTokenUsage }
  | {
      readonly type: "turnEnded";
      readonly turnId: string;
      readonly startedAt: number;
      readonly at: number;
      readonly status: Exclude<TurnStatus, "inProgress">;
      readonly error: TurnError | null;
      /** The turn's last message of the model, for clients that show only the result. */
      readonly answer: ThreadItem | null;
      readonly rootTurnId?: string | undefined;
    };

/**
 * Opaque data that a provider attached to an item, and that only this provider can read. It is sent back with the
 * item.
 */
export interface Carry {
  readonly provider: string;
  readonly data: unknown;
}

export type TurnKind = "regular" | "compact" | "review";

/** The parameters of a compaction. */
export interface Compacting {
  /** What the summary covers: everything so far, or only earlier turns. */
  readonly covers: "past" | "all";
  /** How often the conversation was halved because it was too long for the model. */
  readonly lighter: number;
  /** The error with which the model refused the conversation, if that caused the compaction. */
  readonly because: TurnError | null;
}

/** A part of the conversation that a compaction retains: a user message, an injected item, a goal, or additional context. */
export type Retained =
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

/** Why an item was cut off: the model call failed, the user interrupted, or more input came. */
export type Cut = "fault" | "interrupt" | "input";

export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | null;
  /** The arguments as the model wrote them: JSON for a function, any text for a custom tool. */
  readonly arguments: string;
  readonly kind: "function" | "custom";
}
