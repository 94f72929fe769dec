import type { ThreadState } from "../../core/state.ts";
import type { Platform } from "../../platform/platform.ts";
import { stdinGrant } from "../consent/grants.ts";

/** A name for a process in its thread: a number that models can repeat without mistakes. */
export function freeProcessId(
  ids: Pick<Platform["ids"], "integer">,
  { terminals, grants }: Pick<ThreadState, "terminals" | "grants">,
): string {
  for (;;) {
    const processId = String(1000 + (ids.integer() % 99_000));
    const isTaken = terminals.some((terminal) => terminal.processId === processId);
    // What was granted for a process that is gone is for no other one.
    if (!isTaken && !grants.includes(stdinGrant(processId))) return processId;
  }
}
