import type { MethodName } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import { isHostUser } from "./host-user-check.ts";
import type { Principal } from "./listen/listener.ts";
import { subjectAccess } from "./method-access.ts";
import { type ReachLookup, SUBJECT } from "./owner-access.ts";

/** The owner of the threads that a connection starts. */
export function ownerOf(principal: Principal): string {
  return principal.kind === "subject" ? `${SUBJECT}${principal.subject}` : "local";
}

/** Whether a connection may see an owner's threads: the host's own user sees all threads, a subject sees its own. */
export function maySee(principal: Principal, owner: string): boolean {
  return isHostUser(principal) || ownerOf(principal) === owner;
}

/**
 * Throws if a connection may not call a method at all. Handlers check the thread and the paths that a request
 * names.
 */
export function authorize(principal: Principal, method: MethodName, reachLookup: ReachLookup): void {
  if (isHostUser(principal)) return;
  const access = subjectAccess[method];
  if (access === "hostUser") throw fault("notPermitted", method);
  if (typeof access === "object" && !reachLookup.of(ownerOf(principal)).grants(access.grant))
    throw fault("notGranted", method, access.grant);
}
