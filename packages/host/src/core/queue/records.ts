import type { QueuedSubmission, UserInput } from "@bobbin/protocol";

export type QueueRecord =
  | { readonly type: "submissionQueued"; readonly at: number; readonly submission: QueuedSubmission }
  | {
      readonly type: "submissionChanged";
      readonly at: number;
      readonly id: string;
      readonly input: readonly UserInput[];
    }
  | { readonly type: "queueReordered"; readonly at: number; readonly ids: readonly string[] }
  /** `turnId`: the turn that took it, or null if nobody wants it any more. */
  | {
      readonly type: "submissionRemoved";
      readonly at: number;
      readonly id: string;
      readonly turnId: string | null;
    };

/** Input that waits for the thread to be idle. */
export interface Queue {
  readonly items: readonly QueuedSubmission[];
  /** The last turn was interrupted: whoever did it does not want the next one to begin by itself. */
  readonly paused: boolean;
}

export const EMPTY_QUEUE: Queue = { items: [], paused: false };
