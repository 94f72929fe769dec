import type { PendingRequest } from "../core/requests/records.ts";

/**
 * The request as clients without the experimental capability get it: without `additionalPermissions`. Returns the
 * same object if there is nothing to remove.
 */
export function withoutExperimentalFields(request: PendingRequest): PendingRequest {
  if (request.method !== "item/commandExecution/requestApproval") return request;
  const { additionalPermissions, ...params } = request.params;
  return additionalPermissions == null ? request : { ...request, params };
}
