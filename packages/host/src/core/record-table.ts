import type { Notification } from "./notification.ts";
import type { Frozen, RecordCheck } from "./record-check.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadState } from "./state.ts";

/** The definition of one record type. */
export interface RecordDefinition<R extends ThreadRecord> {
  /**
   * The version of the record's fields that this program writes. An incompatible change increases it, writes it into the
   * record as `v`, and keeps the fold of older versions. A record without `v` has version 1.
   */
  readonly version: number;
  /** Validates a record from disk. */
  readonly check: RecordCheck<Frozen<Omit<R, "type">>>;
  /** The state after the record. `created` and `checkpoint` create the state, and ignore the one before. */
  fold(state: ThreadState, record: R): ThreadState;
  /**
   * The notifications that the record causes. They do not depend on the state, so that subscribers and a later replay
   * get the same.
   */
  notify(threadId: string, record: R): readonly Notification[];
  /**
   * What a commit must survive before its effects become visible: a power cut (`synced`), or a kill of the host
   * (`written`).
   */
  readonly durability: Durability;
  /** Whether a fork copies the record: never, with its turn, or alone, even outside of turns. */
  readonly inFork: R extends { readonly turnId: string } ? InFork : Exclude<InFork, "withTurn">;
}

export type Durability = "written" | "synced";

export type InFork = "never" | "withTurn" | "alone";

/** The definitions of the record types of one area. */
export type RecordTable<R extends ThreadRecord> = {
  readonly [T in R["type"]]: RecordDefinition<Extract<R, { readonly type: T }>>;
};
