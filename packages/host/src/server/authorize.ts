import type { MethodName } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import { isHostUser } from "./host-user.ts";
import type { Principal } from "./listen/door.ts";
import { subjectAccess } from "./method-access.ts";
import { type ReachLookup, SUBJECT } from "./reach.ts";

/** The owner of the threads that a connection starts. */
export function ownerOf(principal: Principal): string {
  return principal.kind === "subject" ? `${SUBJECT}${principal.subject}` : "local";
}

/** Whether a connection may see what belongs to an owner: the host's own user everything, a subject its own. */
export function maySee(principal: Principal, owner: string): boolean {
  return isHostUser(principal) || ownerOf(principal) === owner;
}

/** Throws if a connection may not call a method at all. Handlers check which thread, and what else a request names. */
export function authorize(principal: Principal, method: MethodName, reachLookup: ReachLookup): void {
  if (isHostUser(principal)) return;
  const access = subjectAccess[method];
  if (access === "hostUser") throw fault("notPermitted", method);
  if (typeof access === "object" && !reachLookup.of(ownerOf(principal)).grants(access.grant))
    throw fault("notGranted", method, access.grant);
}
