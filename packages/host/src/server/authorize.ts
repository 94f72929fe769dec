import type { Principal } from "./listen/door.ts";

/** Whose the threads are that a connection starts. */
export function ownerOf(principal: Principal): string {
  return principal.kind === "subject" ? `subject:${principal.subject}` : "local";
}

/** Who came without a name has the whole host; who came with one has what is theirs. */
export function maySee(principal: Principal, owner: string): boolean {
  return principal.kind !== "subject" || ownerOf(principal) === owner;
}
