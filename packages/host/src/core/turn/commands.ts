import type { ThreadItem, TokenUsageBreakdown, TurnError, UserInput } from "@bobbin/protocol";
import type { LastHooks } from "../hooks/records.ts";
import type { ThreadSettings } from "../life/records.ts";
import type { RequestAnswer } from "../requests/records.ts";
import type { ContextEntry } from "./additional-context.ts";
import type { Blobs } from "./blobs.ts";
import type { CallStage, CallStep } from "./call-stages.ts";
import type { WorkingTree } from "./file-changes.ts";
import type { TextPart } from "./item-texts.ts";
import type { Carry, Retained, ToolCall } from "./records.ts";
import type { TurnSettings } from "./turn-settings.ts";

/** Commands about a turn: its input, its model calls, and its tool calls. */
export type TurnCommand =
  | {
      readonly kind: "startTurn";
      readonly at: number;
      readonly turnId: string;
      readonly userItemId: string;
      readonly clientUserMessageId: string | null;
      readonly input: readonly UserInput[];
      readonly blobs?: Blobs | undefined;
      /** The additional context of the input, if there is any. */
      readonly context?: readonly ContextEntry[] | undefined;
      readonly outputSchema: unknown;
      readonly changes: Partial<ThreadSettings>;
      /** The ID of input that another thread sends, so that the same input is taken only once. */
      readonly inputId?: string | undefined;
      /** The turn of the root thread that this turn contributes to. */
      readonly rootTurnId?: string | undefined;
    }
  /** Adds input to the running turn. */
  | {
      readonly kind: "steer";
      readonly at: number;
      readonly expectedTurnId: string;
      readonly userItemId: string;
      readonly clientUserMessageId: string | null;
      readonly input: readonly UserInput[];
      readonly blobs?: Blobs | undefined;
      readonly context?: readonly ContextEntry[] | undefined;
    }
  /** Changes settings for this turn only, from its next model call on. No effect if the turn has ended. */
  | {
      readonly kind: "changeTurnSettings";
      readonly at: number;
      readonly turnId: string;
      readonly changes: TurnSettings;
    }
  /** Ends a turn with an error. No effect if another turn runs, or none. */
  | { readonly kind: "failTurn"; readonly at: number; readonly turnId: string; readonly error: TurnError }
  /** Interrupts a turn. `turnId` null: the running one. */
  | { readonly kind: "interrupt"; readonly at: number; readonly turnId: string | null }
  /** Output of a model call. Ignored if `attempt` is not the current model call. */
  | {
      readonly kind: "itemStarted";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly item: ThreadItem;
    }
  | {
      readonly kind: "itemCompleted";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly item: ThreadItem;
      readonly carry?: Carry | undefined;
      readonly said?: string | undefined;
    }
  | {
      readonly kind: "toolCalled";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly call: ToolCall;
    }
  /** The next step of a tool call. Ignored if the call is not in the stage `from` any more. */
  | {
      readonly kind: "stepCall";
      readonly at: number;
      readonly turnId: string;
      readonly callId: string;
      readonly from: CallStage["kind"];
      readonly step: CallStep;
    }
  /** Answers a server request. Later answers are ignored. */
  | {
      readonly kind: "answer";
      readonly at: number;
      readonly requestId: number;
      readonly answer: RequestAnswer;
    }
  | {
      readonly kind: "modelServed";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly model: string;
    }
  | {
      readonly kind: "saveText";
      readonly turnId: string;
      readonly itemId: string;
      readonly part?: TextPart | undefined;
      readonly text: string;
    }
  | {
      readonly kind: "sampled";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly outcome: SampleOutcome;
      /** The hooks that run at the turn's end, if this outcome ends the turn. */
      readonly lastHooks?: LastHooks | undefined;
    }
  /** The file changes of the turn. `diff` is null if clients need no notification now. */
  | {
      readonly kind: "showDiff";
      readonly at: number;
      readonly turnId: string;
      readonly upTo: number;
      readonly diff: string | null;
      readonly digest: string;
      readonly trees: readonly WorkingTree[];
    }
  /** Starts a code review. `label`: its title for users; `prompt`: the request to the model. */
  | {
      readonly kind: "startReview";
      readonly at: number;
      readonly turnId: string;
      readonly label: string;
      readonly prompt: string;
    }
  /** Compacts the conversation, in a turn of its own. */
  | { readonly kind: "compact"; readonly at: number; readonly turnId: string }
  /** Compacts the conversation before the next model call, because it is too long. */
  | { readonly kind: "compactFirst"; readonly at: number; readonly turnId: string; readonly attempt: number }
  | {
      readonly kind: "summarised";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly outcome: SummaryOutcome;
      readonly lastHooks?: LastHooks | undefined;
    };

/** The outcome of a model call. */
export type SampleOutcome =
  | {
      readonly kind: "done";
      readonly usage: TokenUsageBreakdown;
      readonly contextWindow: number | null;
      /** The text of a code review, as users see it. */
      readonly review?: string | undefined;
    }
  | CallFailed;

/** The outcome of a model call for a summary. */
export type SummaryOutcome =
  | {
      readonly kind: "done";
      readonly summary: string;
      readonly kept: readonly Retained[];
      /** An estimate of the tokens of the compacted conversation. */
      readonly contextTokens: number;
      readonly usage: TokenUsageBreakdown;
      readonly contextWindow: number | null;
    }
  | CallFailed;

/**
 * A failed model call. `retry`: whether a retry may succeed; at most `of` retries in a row, the next one after
 * `afterMs`.
 */
export interface CallFailed {
  readonly kind: "failed";
  readonly error: TurnError;
  readonly retry?: { readonly of: number; readonly afterMs: number } | undefined;
}
