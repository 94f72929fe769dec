import type { Verdict } from "./records.ts";

/** A turn whose reviews were denied so often in a row, or so often among the last ones, ends. */
const MAX_CONSECUTIVE = 3;
const MAX_RECENT = 10;
export const RECENT_REVIEWS = 50;

/** Whether a review counts as a denial: one that failed says nothing about what the model wants. */
export function isDenial({ status, riskLevel }: Verdict): boolean {
  return status === "denied" && riskLevel !== null;
}

/** A turn's reviews with one more; true: denied. */
export function withReview(reviews: readonly boolean[] | undefined, review: Verdict): readonly boolean[] {
  return [...(reviews ?? []).slice(1 - RECENT_REVIEWS), isDenial(review)];
}

/** How many of a turn's reviews were denied, if that is too many. */
export function tooManyDenials(
  reviews: readonly boolean[],
): { readonly consecutive: number; readonly recent: number } | undefined {
  const recent = reviews.filter((denied) => denied).length;
  const consecutive = reviews.length - 1 - reviews.lastIndexOf(false);
  return consecutive >= MAX_CONSECUTIVE || recent >= MAX_RECENT ? { consecutive, recent } : undefined;
}
