import type { Durability } from "../core/record-table.ts";
import type { Commit } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { Fault, fault, messageOf } from "../errors.ts";
import type { Timers } from "../platform/platform.ts";
import { type AppendOutcome, FOREIGN_WRITE, listOf, type ThreadJournal } from "./journal.ts";

/** Delays before the retries of a failed write. */
const RETRY_AFTER_MS = [50, 200, 500];

/**
 * Appends commits, or throws `storageFailed`. Returns the number of written bytes. If the outcome of a write is
 * unknown, the journal is read, and missing commits are written again. A failed fsync is final, because a read
 * could return data that is not on disk.
 */
export async function append(
  journal: ThreadJournal,
  commits: Commit | readonly Commit[],
  durability: Durability,
  state: ThreadState,
  timers: Pick<Timers, "after">,
): Promise<number> {
  let outcome = await journal.append(commits, durability, state);
  if (isInDoubt(outcome)) {
    let rest = listOf(commits);
    for (const ms of RETRY_AFTER_MS) {
      await new Promise<void>((go) => void timers.after(ms, go));
      try {
        rest = rest.slice(await journal.settle(rest, state));
        outcome = await journal.append(rest, durability, state);
      } catch (cause) {
        // Another writer's commits stay, so another attempt would not help.
        if (cause instanceof Fault && cause.code === "storageFailed") throw cause;
        outcome = { kind: "unknown", of: "write", cause };
      }
      if (!isInDoubt(outcome)) break;
    }
  }
  if (outcome.kind === "committed") return outcome.bytes;
  if (outcome.kind === "conflict") throw fault("storageFailed", FOREIGN_WRITE);
  throw fault("storageFailed", messageOf(outcome.cause));
}

/**
 * Whether the outcome of a write is unknown and reading the journal can determine it. A `Fault` is a known refusal.
 */
function isInDoubt(outcome: AppendOutcome): boolean {
  return outcome.kind === "unknown" && outcome.of === "write" && !(outcome.cause instanceof Fault);
}
