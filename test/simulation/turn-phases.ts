import assert from "node:assert/strict";
import { fold } from "../../packages/host/src/core/fold.ts";
import type { Commit } from "../../packages/host/src/core/records.ts";
import type { ThreadState } from "../../packages/host/src/core/state.ts";
import { turnFromCheckpoint, turnInCheckpoint } from "../../packages/host/src/core/turn/checkpoint-turn.ts";
import type { TurnPhase } from "../../packages/host/src/core/turn/phase.ts";

/** Files, real or not. */
interface Texts {
  readonly paths: readonly string[];
  text(path: string): string | undefined;
}

/**
 * Folds every journal on a disk, commit by commit. Checks that no commit ends in the phase `ending`, and that a
 * checkpoint there would preserve the turn. Returns the phases that occurred.
 */
export function checkPhases(disk: Texts): ReadonlySet<TurnPhase["kind"]> {
  const seen = new Set<TurnPhase["kind"]>();
  for (const path of disk.paths.filter((one) => one.endsWith(".jsonl"))) {
    for (const { seq, state } of states(disk.text(path)!)) {
      const { turn } = state;
      if (turn === null) continue;
      assert.notEqual(turn.phase.kind, "ending", `${path}: the turn of commit ${seq} has nothing to do`);
      const saved = turnFromCheckpoint(plain(turnInCheckpoint(turn)));
      assert.deepEqual(saved, plain(turn), `${path}: the turn of commit ${seq} in a checkpoint`);
      seen.add(turn.phase.kind);
    }
  }
  return seen;
}

/** The state after each commit, up to the first line that is no commit: a power cut may have torn the last line. */
function* states(text: string): Generator<{ readonly seq: number; readonly state: ThreadState }> {
  let state: ThreadState | undefined;
  for (const line of text.split("\n").slice(0, -1)) {
    const commit = parsed(line);
    if (commit === undefined) return;
    for (const record of commit.records) {
      if (state === undefined && record.type !== "created") return;
      state = fold(state, record);
    }
    if (state !== undefined) yield { seq: commit.seq, state };
  }
}

function parsed(line: string): Commit | undefined {
  try {
    const commit = JSON.parse(line) as Partial<Commit>;
    return Array.isArray(commit.records) ? (commit as Commit) : undefined;
  } catch {
    return undefined;
  }
}

/** Removes members that are undefined, as a journal does. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
