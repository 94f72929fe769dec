import type { Principal } from "./listen/listener.ts";

/** Whether a connection acts for the host's own user, who may see and change everything. */
export function isHostUser(principal: Principal): boolean {
  return principal.kind !== "subject";
}
