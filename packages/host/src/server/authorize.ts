import type { MethodEntry } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import type { Principal } from "./listen/door.ts";

/** Whose the threads are that a connection starts. */
export function ownerOf(principal: Principal): string {
  return principal.kind === "subject" ? `subject:${principal.subject}` : "local";
}

/** Who came without a name has the whole host; who came with one has what is theirs. */
export function maySee(principal: Principal, owner: string): boolean {
  return isHostUser(principal) || ownerOf(principal) === owner;
}

/** Who the whole host is for: they may change it, and see what is everybody's. */
export function isHostUser(principal: Principal): boolean {
  return principal.kind !== "subject";
}

/** Whether this one may ask for this at all; of which thread is asked when the thread is known. */
export function authorize(principal: Principal, method: string, entry: MethodEntry): void {
  if (entry.hostUserOnly && !isHostUser(principal)) throw fault("notPermitted", method);
}
