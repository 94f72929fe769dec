import type { ThreadItem, ThreadTokenUsage, TurnError, TurnStatus, UserInput } from "@bobbin/protocol";

export type TurnRecord =
  | {
      readonly type: "turnStarted";
      readonly turnId: string;
      readonly at: number;
      readonly input: readonly UserInput[];
      readonly outputSchema: unknown;
    }
  /** The model is due to be called; an attempt that it follows no longer counts. */
  | { readonly type: "sampleRequested"; readonly turnId: string; readonly attempt: number }
  | { readonly type: "itemStarted"; readonly turnId: string; readonly at: number; readonly item: ThreadItem }
  /** More of a running item's text, so that a crash loses little of it. */
  | { readonly type: "textSaved"; readonly turnId: string; readonly itemId: string; readonly text: string }
  | {
      readonly type: "itemCompleted";
      readonly turnId: string;
      readonly at: number;
      readonly item: ThreadItem;
    }
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
