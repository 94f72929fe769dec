import type { Notification } from "./notification.ts";
import type { Frozen, RecordCheck } from "./record-check.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadState } from "./state.ts";

/** All that the host knows about one record type. */
export interface RecordEntry<R extends ThreadRecord> {
  /**
   * The version of its shape that we write. A change of shape raises the number, writes it into the record as `v`, and
   * keeps the fold of the old one; a record without `v` has version 1.
   */
  readonly version: number;
  /** Whether what is on disk has that shape. */
  readonly check: RecordCheck<Frozen<Omit<R, "type">>>;
  /** The state behind it. `created` and `checkpoint` start one, and are given nothing. */
  fold(state: ThreadState, record: R): ThreadState;
  /** What clients are sent because of it. It sees no state, so that live fan-out and replay send the same. */
  notify(threadId: string, record: R): readonly Notification[];
  /** `synced`: its commit survives a power cut before its effects are visible; `written`: a kill of the process. */
  readonly durability: Durability;
  /** Whether a fork copies it: never, with the turn that it belongs to, or by itself, wherever it stands. */
  readonly inFork: R extends { readonly turnId: string } ? InFork : Exclude<InFork, "withTurn">;
}

export type Durability = "written" | "synced";

export type InFork = "never" | "withTurn" | "alone";

/** The entries of one area. */
export type RecordEntries<R extends ThreadRecord> = {
  readonly [T in R["type"]]: RecordEntry<Extract<R, { readonly type: T }>>;
};
