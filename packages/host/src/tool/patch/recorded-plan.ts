import { array, inline, nullable, omittable, type Static, string } from "@bobbin/protocol/schema";
import type { Frozen } from "../../core/record-check.ts";

/** The data recorded when a patch is dispatched. After a crash, the next host applies the rest of the patch. */
export const RECORDED_PLAN = inline(() => ({
  files: array(inline(() => ({ path: string(), before: nullable(string()), after: nullable(string()) }))),
  /** The real paths of `files` that were decided about. No other path is written. */
  allowed: array(string()),
  /**
   * The folders of `files` that were decided about. A write starts at the same folder or fails. Plans of older
   * versions have none.
   */
  folders: omittable(array(inline(() => ({ path: string(), id: string() })))),
}));

export type RecordedPlan = Frozen<Static<typeof RECORDED_PLAN>>;
