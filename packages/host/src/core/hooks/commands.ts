import type { HookEventName, HookRunSummary, ThreadItem } from "@bobbin/protocol";
import type { HookOutcome } from "./records.ts";

/** The start and the end of hooks. */
export type HookCommand =
  | {
      readonly kind: "startHooks";
      readonly at: number;
      readonly turnId: string;
      readonly runs: readonly HookRunSummary[];
    }
  | {
      readonly kind: "endHooks";
      readonly at: number;
      readonly turnId: string;
      /** The number of the model call that the hooks ran for. */
      readonly attempt: number;
      readonly event: HookEventName;
      readonly subject: string | null;
      readonly runs: readonly HookRunSummary[];
      readonly outcome: HookOutcome;
      /** The item of the tool call, if the hooks answer its request for approval. */
      readonly item?: ThreadItem | undefined;
      /** The ID of the item that shows why the model has to continue. */
      readonly itemId?: string | undefined;
    };
