import type { Command } from "../core/commands.ts";
import { type Decision, decide } from "../core/decide.ts";
import type { Notification } from "../core/notification.ts";
import type { Durability } from "../core/record-table.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { ThreadJournal } from "../store/journal.ts";
import type { Head } from "../store/thread-head.ts";
import type { CommitTarget } from "./commit.ts";

export interface UnloadedThreadPorts {
  readonly durability: Durability;
  /** Notifies every connection that may see the thread. */
  broadcast(notification: Notification): void;
}

const NO_TEXTS: ReadonlyMap<string, string> = new Map();

/** A thread that is not loaded, opened for one commit. It has no subscribers. */
export class UnloadedThread implements CommitTarget {
  readonly id: string;
  readonly journal: ThreadJournal;
  readonly actor = undefined;
  readonly #ports: UnloadedThreadPorts;
  #head: Head;
  #isWritten = false;

  constructor(journal: ThreadJournal, head: Head, ports: UnloadedThreadPorts) {
    this.id = head.state.facts.id;
    this.journal = journal;
    this.#head = head;
    this.#ports = ports;
  }

  get head(): Head {
    return this.#head;
  }

  /** Whether the commit is durable. */
  get isWritten(): boolean {
    return this.#isWritten;
  }

  decide(state: ThreadState, command: Command): Decision {
    return decide(state, command, NO_TEXTS);
  }

  recording(): void {}

  /** The close of a thread gets a checkpoint, so that the next load reads little. */
  isCheckpointDue(records: readonly ThreadRecord[]): boolean {
    return records.some(({ type }) => type === "closed");
  }

  durability(): Durability {
    return this.#ports.durability;
  }

  written({ seq }: Commit, state: ThreadState): void {
    this.#head = { state, seq };
    this.#isWritten = true;
  }

  tell(_record: ThreadRecord, notifications: readonly Notification[]): void {
    for (const notification of notifications) {
      if (notification.audience === "everyone") this.#ports.broadcast(notification);
    }
  }
}
