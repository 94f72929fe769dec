import type {
  GuardianApprovalReview,
  GuardianApprovalReviewAction,
  TokenUsageBreakdown,
} from "@bobbin/protocol";
import type { Ask } from "../requests/records.ts";

export type ReviewRecord =
  /** A model reviews a request for approval in place of a person. */
  | ({
      readonly type: "reviewStarted";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly ask: Ask;
      /** The ID that the tool gave to its request. */
      readonly question?: string | undefined;
      readonly fingerprint?: string | undefined;
      /** The ID of the request, if the call continues during the review (see `AsideReview`). */
      readonly requestId?: number | undefined;
    } & Reviewed)
  | ({
      readonly type: "reviewEnded";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly startedAt: number;
      readonly review: Verdict;
      /** The tokens that the reviewer's model calls used; null if unknown. */
      readonly usage: TokenUsageBreakdown | null;
      readonly requestId?: number | undefined;
    } & Reviewed)
  /** A person approves, once, an action that the reviewer denied. */
  | { readonly type: "denialApproved"; readonly at: number; readonly reviewId: string }
  /** The turn ends because of too many denials. The fields are the numbers of denials. */
  | {
      readonly type: "reviewsExhausted";
      readonly turnId: string;
      readonly at: number;
      readonly consecutive: number;
      readonly recent: number;
    };

/** The subject of a review. */
export interface Reviewed {
  readonly reviewId: string;
  /** The item that waits for the review, if there is one. */
  readonly targetItemId: string | null;
  readonly action: GuardianApprovalReviewAction;
}

/** How a review ended. A denial without a risk level is a review that failed. */
export type Verdict = Omit<GuardianApprovalReview, "status"> & {
  readonly status: Exclude<GuardianApprovalReview["status"], "inProgress">;
};

/** An action that the reviewer denied and that a person may still approve. */
export interface Denial {
  readonly reviewId: string;
  readonly action: GuardianApprovalReviewAction;
  /** See `RunningReview`. */
  readonly fingerprint?: string | undefined;
  readonly approved: boolean;
}

/** A review in progress. */
export interface RunningReview extends Reviewed {
  /** Identifies the action: equal for calls that ask for exactly the same action, and only for those. */
  readonly fingerprint?: string | undefined;
  readonly startedAt: number;
  readonly ask: Ask;
  readonly question?: string | undefined;
}

/** A review of a network connection. Only the command's connection waits for the verdict; the tool call continues. */
export interface AsideReview extends RunningReview {
  readonly requestId: number;
  readonly turnId: string;
  readonly callId: string;
}
