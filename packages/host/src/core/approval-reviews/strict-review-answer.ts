import type { PermissionsRequestApprovalResponse } from "@bobbin/protocol";
import type { Ask, RequestAnswer } from "../requests/records.ts";

/** Whether a person granted permissions on the condition that a model reviews every later action of the turn. */
export function asksForStrictReview(method: Ask["method"], answer: RequestAnswer): boolean {
  if (method !== "item/permissions/requestApproval" || answer.kind !== "result") return false;
  const { strictAutoReview, scope } = answer.result as PermissionsRequestApprovalResponse;
  return strictAutoReview === true && scope !== "session";
}
