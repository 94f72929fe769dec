import type { Command } from "../core/commands.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";

/** Called with the result of a command: the state after the command, and the command's records (possibly none). */
export type CommitCallback = (state: ThreadState, records: readonly ThreadRecord[]) => void;

/** A command in the mailbox of a thread. */
export interface Letter {
  /** Undefined if the caller only needs the state. */
  readonly command: Command | undefined;
  /** Whether the commit must be fsynced before its effects are visible. */
  readonly synced: boolean;
  /** Called when the commit is durable, before notifications are sent; undefined if the caller needs no result. */
  readonly committed: CommitCallback | undefined;
  /** Called instead of `committed` if the letter has no `committed`. */
  readonly done: () => void;
  readonly refused: (why: unknown) => void;
  /** Resolves when `committed` has run; rejects if the command was refused. */
  readonly answered: Promise<void>;
}

/** Creates the letter of a command. */
export function letterOf(
  command: Command | undefined,
  committed: CommitCallback | undefined,
  synced: boolean,
): Letter {
  let done!: () => void;
  let refused!: (why: unknown) => void;
  const answered = new Promise<void>((resolve, reject) => {
    done = resolve;
    refused = reject;
  });
  return {
    command,
    synced,
    committed: committed && guarded(committed, done, refused),
    done,
    refused,
    answered,
  };
}

function guarded(
  committed: CommitCallback,
  done: () => void,
  refused: (why: unknown) => void,
): CommitCallback {
  return (state, records) => {
    try {
      committed(state, records);
      done();
    } catch (cause) {
      // An error of the caller must not break the thread.
      refused(cause);
    }
  };
}

/** Limit on the commands per commit, because deciding a batch blocks the event loop. */
const BATCH = 256;

/** The pending commands of a thread, in the order of arrival. */
export class Mailbox {
  #letters: Letter[] = [];

  get empty(): boolean {
    return this.#letters.length === 0;
  }

  /** Adds a command. Resolves when `committed` has run; rejects if the command was refused. */
  post(command: Command | undefined, committed: CommitCallback | undefined, synced: boolean): Promise<void> {
    const letter = letterOf(command, committed, synced);
    this.#letters.push(letter);
    return letter.answered;
  }

  /**
   * Takes the next batch of commands. A read of the state is taken alone, because its caller may make later commands
   * wait.
   */
  take(): readonly Letter[] {
    const looks = this.#letters.findIndex((letter) => letter.command === undefined);
    return this.#letters.splice(0, looks < 0 ? BATCH : Math.min(BATCH, Math.max(1, looks)));
  }

  takeAll(): readonly Letter[] {
    return this.#letters.splice(0);
  }

  /** Puts back letters that were taken but not decided. */
  putBack(letters: readonly Letter[]): void {
    this.#letters.unshift(...letters);
  }
}
