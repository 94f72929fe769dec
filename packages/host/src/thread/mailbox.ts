import type { Command } from "../core/commands.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";

/** What a command has led to: the state behind it, and the records, of which there may be none. */
export type Committed = (state: ThreadState, records: readonly ThreadRecord[]) => void;

export interface Letter {
  /** Undefined: a look at the state. */
  readonly command: Command | undefined;
  /** What comes of it has to survive a power cut before it is told. */
  readonly synced: boolean;
  /** Called after the commit is durable and before anything that it caused is told; undefined: nobody asked for it. */
  readonly committed: Committed | undefined;
  /** Called in its place. */
  readonly done: () => void;
  readonly refused: (why: Error) => void;
}

/** How many commands are dealt with together: each batch is one commit, and nothing else runs meanwhile. */
const BATCH = 256;

/** What a thread has been asked to do and has not begun, in the order in which it came. */
export class Mailbox {
  #letters: Letter[] = [];

  get empty(): boolean {
    return this.#letters.length === 0;
  }

  /** Resolves when `committed` has run, or throws why it did not. */
  post(command: Command | undefined, committed: Committed | undefined, synced: boolean): Promise<void> {
    return new Promise((done, refused) => {
      const guarded: Committed = (state, records) => {
        try {
          committed?.(state, records);
          done();
        } catch (cause) {
          // What is wrong with whoever asked is not wrong with the thread.
          refused(cause);
        }
      };
      this.#letters.push({ command, synced, committed: committed && guarded, done, refused });
    });
  }

  /** What is dealt with next. Commands go together; a look goes alone, because it may hold up what is behind it. */
  take(): readonly Letter[] {
    const looks = this.#letters.findIndex((letter) => letter.command === undefined);
    return this.#letters.splice(0, looks < 0 ? BATCH : Math.min(BATCH, Math.max(1, looks)));
  }

  takeAll(): readonly Letter[] {
    return this.#letters.splice(0);
  }

  /** What was taken and has to wait for the next time. */
  putBack(letters: readonly Letter[]): void {
    this.#letters.unshift(...letters);
  }
}
