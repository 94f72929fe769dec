import type { ThreadState } from "../../core/state.ts";
import type { Platform } from "../../platform/platform.ts";
import { stdinGrant } from "../consent/list-grants.ts";

/** Picks an unused process ID within a thread: a short number that a model can repeat without mistakes. */
export function unusedProcessId(
  ids: Pick<Platform["ids"], "integer">,
  { terminals, grants }: Pick<ThreadState, "terminals" | "grants">,
): string {
  for (;;) {
    const processId = String(1000 + (ids.integer() % 99_000));
    const isTaken = terminals.some((terminal) => terminal.processId === processId);
    // A grant to write to an earlier process must not apply to a new one.
    if (!isTaken && !grants.includes(stdinGrant(processId))) return processId;
  }
}
