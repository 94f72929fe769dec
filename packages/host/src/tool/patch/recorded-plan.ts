import { array, inline, nullable, type Static, string } from "@bobbin/protocol/schema";
import type { Frozen } from "../../core/record-check.ts";

/** The data recorded when a patch is dispatched. After a crash, the next host applies the rest of the patch. */
export const RECORDED_PLAN = inline(() => ({
  files: array(inline(() => ({ path: string(), before: nullable(string()), after: nullable(string()) }))),
  /** The approved real paths. Symlinks are resolved again at each write, and must lead to one of these paths. */
  allowed: array(string()),
}));

export type RecordedPlan = Frozen<Static<typeof RECORDED_PLAN>>;
