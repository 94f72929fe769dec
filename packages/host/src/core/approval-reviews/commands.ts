import type { TokenUsageBreakdown } from "@bobbin/protocol";
import type { Verdict } from "./records.ts";

/** Commands about reviews of approvals by a model. */
export type ReviewCommand =
  /** The verdict of a model that reviews approvals in place of a person. */
  | {
      readonly kind: "reviewed";
      readonly at: number;
      readonly turnId: string;
      readonly callId: string;
      readonly reviewId: string;
      readonly review: Verdict;
      readonly usage: TokenUsageBreakdown | null;
    }
  /** A person approves an action that the reviewing model denied. */
  | { readonly kind: "approveDenied"; readonly at: number; readonly reviewId: string };
