import type { Commit, ThreadRecord } from "../core/records.ts";

/** Commits after which a checkpoint is due: at the next end of a turn, or even within a turn. */
const COMMITS = 64;
const COMMITS_IN_A_TURN = 256;
/** Bytes after which a checkpoint is due. If the last checkpoint was larger, its size counts instead. */
const BYTES = 4 * 1024 * 1024;

/**
 * Decides when a checkpoint is written to a thread's journal. Loading and waking a thread read the journal back to
 * the last checkpoint, so frequent checkpoints keep that part short.
 */
export class CheckpointPolicy {
  #commits = 0;
  #bytes = 0;
  /** The bytes of the commit with the last checkpoint. */
  #lastBytes = 0;

  /** Whether a checkpoint has to be added to the next commit. */
  isDue(records: readonly ThreadRecord[]): boolean {
    const commits = this.#commits + 1;
    if (commits >= COMMITS_IN_A_TURN || this.#bytes >= Math.max(BYTES, this.#lastBytes)) return true;
    return records.some(({ type }) => isAlways(type) || (type === "turnEnded" && commits >= COMMITS));
  }

  written({ records }: Commit, bytes: number): void {
    const has = records.at(-1)?.type === "checkpoint";
    this.#commits = has ? 0 : this.#commits + 1;
    this.#bytes = has ? 0 : this.#bytes + bytes;
    if (has) this.#lastBytes = bytes;
  }
}

/**
 * Whether a record always gets a checkpoint. The model's history, for example, is read back to the last compaction.
 */
function isAlways(type: ThreadRecord["type"]): boolean {
  return type === "closed" || type === "compacted";
}
