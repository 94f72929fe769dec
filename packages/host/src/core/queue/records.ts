import type { QueuedSubmission, UserInput } from "@bobbin/protocol";

export type QueueRecord =
  | { readonly type: "submissionQueued"; readonly at: number; readonly submission: QueuedSubmission }
  | {
      readonly type: "submissionChanged";
      readonly at: number;
      readonly id: string;
      readonly input: readonly UserInput[];
      /** Absent if the submission keeps its own. */
      readonly responsesapiClientMetadata?: Readonly<Record<string, string>>;
    }
  | { readonly type: "queueReordered"; readonly at: number; readonly ids: readonly string[] }
  /** `turnId`: the turn that started with the submission; null if a client removed it. */
  | {
      readonly type: "submissionRemoved";
      readonly at: number;
      readonly id: string;
      readonly turnId: string | null;
    };

/** Inputs that wait until the thread is idle. */
export interface Queue {
  readonly items: readonly QueuedSubmission[];
  /** Whether the last turn was interrupted, after which the host does not start the next submission. */
  readonly paused: boolean;
}

export const EMPTY_QUEUE: Queue = { items: [], paused: false };
