import type { QueuedSubmission, UserInput } from "@bobbin/protocol";
import type { Blobs } from "../turn/blobs.ts";

/** Commands about the input that waits for its turn. */
export type QueueCommand =
  | { readonly kind: "queueInput"; readonly at: number; readonly submission: QueuedSubmission }
  | {
      readonly kind: "changeQueued";
      readonly at: number;
      readonly id: string;
      readonly input: readonly UserInput[];
      /** Absent if the submission keeps its own. */
      readonly responsesapiClientMetadata?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "removeQueued"; readonly at: number; readonly id: string }
  | { readonly kind: "reorderQueue"; readonly at: number; readonly ids: readonly string[] }
  /**
   * Starts a queued submission. `id` null: the first one. `asked`: a client requested the start; otherwise the host
   * starts it.
   */
  | {
      readonly kind: "startQueued";
      readonly at: number;
      readonly id: string | null;
      readonly turnId: string;
      readonly userItemId: string;
      readonly blobs?: Blobs | undefined;
      readonly asked: boolean;
    };
