import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "./call-list.ts";
import type { TurnRecord } from "./records.ts";

/** Files as they were before a call that may change them: what the turn's diff is made against, and what an undo restores. */
export interface FilesBefore {
  /** The blob that holds the contents of `files`, one behind the other; null if all of them are empty or missing. */
  readonly pack: string | null;
  readonly files: readonly FileBefore[];
  /** Whole working trees of git, for calls that may change anything in them. */
  readonly trees: readonly WorkingTree[];
  /** Why not everything that the call may change was saved. */
  readonly missing?: string | undefined;
}

/** One file. `length` null: there was none. Paths are real ones. */
export interface FileBefore {
  readonly path: string;
  readonly mode: number;
  readonly from: number;
  readonly length: number | null;
}

/** A tree object in the thread's own object store. `top`: the folder that it is of. */
export interface WorkingTree {
  readonly top: string;
  readonly tree: string;
}

/** What the running turn has done to files. */
export interface TurnChanges {
  readonly before: readonly FilesBefore[];
  /** How many of its calls have ended that may have changed files, and how many of them a diff was made after. */
  readonly ended: number;
  readonly shown: number;
  /** The diff that clients have, as a digest, and how many characters they were sent in all. */
  readonly digest: string | null;
  readonly sent: number;
}

const NONE: TurnChanges = { before: [], ended: 0, shown: 0, digest: null, sent: 0 };

/** The turn with what was saved before a call. */
export function withBefore({ changes = NONE }: TurnState, before: FilesBefore): Partial<TurnState> {
  return { changes: { ...changes, before: [...changes.before, before] } };
}

/** The turn after an item, if that may have changed files. */
export function afterItem({ changes }: TurnState, item: ThreadItem): Partial<TurnState> | undefined {
  if (changes === undefined || !mayHaveChanged(item)) return undefined;
  return { changes: { ...changes, ended: changes.ended + 1 } };
}

/** The turn after a call that was at work here: one that goes on in the background completes its item later. */
export function afterCall(turn: TurnState, callId: string): Partial<TurnState> | undefined {
  const { changes, calls } = turn;
  if (changes === undefined) return undefined;
  const stage = findCall(calls, callId)?.stage;
  if (stage?.kind !== "dispatched" || stage.via !== undefined) return undefined;
  return { changes: { ...changes, ended: changes.ended + 1 } };
}

function mayHaveChanged(item: ThreadItem): boolean {
  switch (item.type) {
    case "fileChange":
    case "commandExecution":
      return item.status !== "declined";
    default:
      return false;
  }
}

type TurnDiffed = Extract<TurnRecord, { type: "turnDiffed" }>;

export function foldTurnDiffed(state: ThreadState, record: TurnDiffed): ThreadState {
  const { turn } = state;
  if (state.undiffed?.turnId === record.turnId) return withoutUndiffed(state);
  if (turn?.id !== record.turnId || turn.changes === undefined) return state;
  const { changes } = turn;
  const shown = record.upTo;
  if (record.diff === null) return { ...state, turn: { ...turn, changes: { ...changes, shown } } };
  const sent = changes.sent + record.diff.length;
  return { ...state, turn: { ...turn, changes: { ...changes, shown, digest: record.digest, sent } } };
}

/** What is left to show of a turn that ends. */
export function undiffedAfter(turn: TurnState | null): Pick<ThreadState, "undiffed"> {
  if (turn?.changes === undefined || !isDiffDue(turn)) return {};
  return { undiffed: { turnId: turn.id, changes: turn.changes } };
}

/** The state when nothing of the last turn is left to show. */
export function withoutUndiffed(state: ThreadState): ThreadState {
  if (state.undiffed === undefined) return state;
  const { undiffed: _, ...rest } = state;
  return rest;
}

/** What a turn has done to files, if that is to be shown. */
export function changesOf({ turn, undiffed }: ThreadState, turnId: string): TurnChanges | undefined {
  if (turn?.id === turnId) return turn.changes;
  return undiffed?.turnId === turnId ? undiffed.changes : undefined;
}

/** Whether a diff is due: a call has ended since the last one. */
export function isDiffDue({ changes }: TurnState): boolean {
  return changes !== undefined && changes.ended > changes.shown;
}
