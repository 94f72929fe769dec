import { expect, it } from "vitest";
import { verdictOf } from "../../../../../test/support/reviewed-thread.ts";
import { isDenial, RECENT_REVIEWS, tooManyDenials, withReview } from "./denial-limit.ts";

/** The reviews of a turn: `x` is a denial, `.` is none. */
const reviews = (text: string) => Array.from(text, (one) => one === "x");

it("counts denials, and no review that approved, failed or was aborted", () => {
  expect(isDenial(verdictOf("denied"))).toBe(true);
  expect(isDenial(verdictOf("denied", null))).toBe(false);
  for (const status of ["approved", "timedOut", "aborted"] as const)
    expect(isDenial(verdictOf(status))).toBe(false);
});

it.each([
  ["", undefined],
  ["x", undefined],
  ["xx", undefined],
  ["xxx", { consecutive: 3, recent: 3 }],
  ["xx.xx", undefined],
  ["x.xxx", { consecutive: 3, recent: 4 }],
  ["xxxx", { consecutive: 4, recent: 4 }],
  // Denials that were followed by an approval count no longer.
  ["xxx.", undefined],
  // Nine denials, then ten, never three in a row.
  ["xx.xx.xx.xx.x", undefined],
  ["xx.xx.xx.xx.xx", { consecutive: 2, recent: 10 }],
  ["xx.xx.xx.xx.xx.", { consecutive: 0, recent: 10 }],
])("says of the reviews %j whether there are too many denials", (text, expected) => {
  expect(tooManyDenials(reviews(text))).toEqual(expected);
});

it("remembers the last reviews of a turn, the oldest first", () => {
  expect(withReview(undefined, verdictOf("denied"))).toEqual([true]);
  expect(withReview([true], verdictOf("approved"))).toEqual([true, false]);
  const full = [true, ...Array.from({ length: RECENT_REVIEWS - 2 }, () => false)];
  const last = withReview(full, verdictOf("denied"));
  expect(last).toEqual([...full, true]);
  expect(withReview(last, verdictOf("denied"))).toEqual([...full.slice(1), true, true]);
});
