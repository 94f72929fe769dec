import { fault } from "../errors.ts";
import type { Actor } from "../thread/actor.ts";
import type { Connection } from "./connection.ts";
import type { Principal } from "./listen/door.ts";

/** Whose the threads are that a connection starts. */
export function ownerOf(principal: Principal): string {
  return principal.kind === "subject" ? `subject:${principal.subject}` : "local";
}

/** Who came without a name has the whole host; who came with one has what is theirs. */
export function maySee(principal: Principal, owner: string): boolean {
  return principal.kind !== "subject" || ownerOf(principal) === owner;
}

/** A thread of someone else is not there: its existence is theirs to tell. */
export function authorize(connection: Connection, actor: Actor): Actor {
  if (!maySee(connection.meta.principal, actor.state.facts.owner)) throw fault("threadNotFound", actor.id);
  return actor;
}
