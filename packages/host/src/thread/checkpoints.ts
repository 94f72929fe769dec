import type { Commit, ThreadRecord } from "../core/records.ts";

/** With a turn's end after so many commits, and in the middle of a turn after more. */
const COMMITS = 64;
const COMMITS_IN_A_TURN = 256;
/** Or after so many bytes, if that is more than the last checkpoint had. */
const BYTES = 4 * 1024 * 1024;

/**
 * Says when a thread's journal gets a checkpoint. A load and a wake read back to the last one: what they have to
 * read and fold stays short, whatever happens in the thread.
 */
export class Checkpoints {
  #commits = 0;
  #bytes = 0;
  /** Of the commit with the last checkpoint. */
  #lastBytes = 0;

  /** Whether these records, the next commit, get one behind them. */
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

/** What the model is shown is read back to a compaction, and so is the head. */
function isAlways(type: ThreadRecord["type"]): boolean {
  return type === "closed" || type === "compacted";
}
