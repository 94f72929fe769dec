import type { ThreadItem, TokenUsageBreakdown, TurnError, UserInput } from "@bobbin/protocol";
import type { ThreadSettings } from "./life/records.ts";

/** What the outside asks of a thread, as plain data: ids, times and texts are chosen by whoever sends it. */
export type Command =
  | {
      readonly kind: "startTurn";
      readonly at: number;
      readonly turnId: string;
      readonly userItemId: string;
      readonly clientUserMessageId: string | null;
      readonly input: readonly UserInput[];
      readonly outputSchema: unknown;
      readonly changes: Partial<ThreadSettings>;
    }
  /** More input for the running turn. */
  | {
      readonly kind: "steer";
      readonly at: number;
      readonly expectedTurnId: string;
      readonly userItemId: string;
      readonly clientUserMessageId: string | null;
      readonly input: readonly UserInput[];
    }
  /** `turnId` null: whatever turn runs. */
  | { readonly kind: "interrupt"; readonly at: number; readonly turnId: string | null }
  | { readonly kind: "itemStarted"; readonly at: number; readonly turnId: string; readonly item: ThreadItem }
  | {
      readonly kind: "itemCompleted";
      readonly at: number;
      readonly turnId: string;
      readonly item: ThreadItem;
    }
  | {
      readonly kind: "sampled";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly outcome: SampleOutcome;
    };

/** How a call of the model went. */
export type SampleOutcome =
  | { readonly kind: "done"; readonly usage: TokenUsageBreakdown; readonly contextWindow: number | null }
  | { readonly kind: "failed"; readonly error: TurnError };
