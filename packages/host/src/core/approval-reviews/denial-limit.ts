import type { Verdict } from "./records.ts";

/** Limits on the denials of one turn: denials in a row, and denials among the last `RECENT_REVIEWS` reviews. */
const MAX_CONSECUTIVE = 3;
const MAX_RECENT = 10;
export const RECENT_REVIEWS = 50;

/** Whether a review counts as a denial. A failed review (without a risk level) does not. */
export function isDenial({ status, riskLevel }: Verdict): boolean {
  return status === "denied" && riskLevel !== null;
}

/** Appends a review to the list of the turn's reviews, in which true stands for a denial. */
export function withReview(reviews: readonly boolean[] | undefined, review: Verdict): readonly boolean[] {
  return [...(reviews ?? []).slice(1 - RECENT_REVIEWS), isDenial(review)];
}

/** The numbers of denials in a turn if one of the numbers has reached its limit, else undefined. */
export function tooManyDenials(
  reviews: readonly boolean[],
): { readonly consecutive: number; readonly recent: number } | undefined {
  const recent = reviews.filter((denied) => denied).length;
  const consecutive = reviews.length - 1 - reviews.lastIndexOf(false);
  return consecutive >= MAX_CONSECUTIVE || recent >= MAX_RECENT ? { consecutive, recent } : undefined;
}
