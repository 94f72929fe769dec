import type {
  GuardianApprovalReview,
  GuardianApprovalReviewAction,
  TokenUsageBreakdown,
} from "@bobbin/protocol";
import type { Ask } from "../requests/records.ts";

export type ReviewRecord =
  /** A model is due to judge a question in place of a person. */
  | ({
      readonly type: "reviewStarted";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly ask: Ask;
      /** The tool's own name for the question. */
      readonly question?: string | undefined;
      readonly fingerprint?: string | undefined;
      /** The name of the question, where the call goes on meanwhile. */
      readonly requestId?: number | undefined;
    } & Reviewed)
  | ({
      readonly type: "reviewEnded";
      readonly turnId: string;
      readonly at: number;
      readonly callId: string;
      readonly startedAt: number;
      readonly review: Verdict;
      /** What the reviewer's calls of the model took; null if nothing is known. */
      readonly usage: TokenUsageBreakdown | null;
      readonly requestId?: number | undefined;
    } & Reviewed)
  /** A person approves what the reviewer denied, once. */
  | { readonly type: "denialApproved"; readonly at: number; readonly reviewId: string }
  /** The reviewer denied so much of a turn that the turn ends: what it counted. */
  | {
      readonly type: "reviewsExhausted";
      readonly turnId: string;
      readonly at: number;
      readonly consecutive: number;
      readonly recent: number;
    };

/** What a review is about. */
export interface Reviewed {
  readonly reviewId: string;
  /** The item that waits for it, if there is one. */
  readonly targetItemId: string | null;
  readonly action: GuardianApprovalReviewAction;
}

/** How a review ended. A denial without a risk level is a review that failed. */
export type Verdict = Omit<GuardianApprovalReview, "status"> & {
  readonly status: Exclude<GuardianApprovalReview["status"], "inProgress">;
};

/** What a reviewer denied, as long as a person may approve it. */
export interface Denial {
  readonly reviewId: string;
  readonly action: GuardianApprovalReviewAction;
  /** What the call asked for exactly: see `RunningReview`. */
  readonly fingerprint?: string | undefined;
  readonly approved: boolean;
}

/** A review that runs. */
export interface RunningReview extends Reviewed {
  /** The same for calls that ask for exactly the same, and for no others. */
  readonly fingerprint?: string | undefined;
  readonly startedAt: number;
  readonly ask: Ask;
  readonly question?: string | undefined;
}

/** A review beside a call, which goes on: a command waits for it that wants to connect to a host. */
export interface AsideReview extends RunningReview {
  readonly requestId: number;
  readonly turnId: string;
  readonly callId: string;
}
