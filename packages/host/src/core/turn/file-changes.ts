import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadState, TurnState } from "../state.ts";
import { findCall } from "./call-list.ts";
import { callsOf } from "./phase.ts";
import type { TurnRecord } from "./records.ts";

/**
 * The content of files before a call that may change them. The turn's diff compares with it, and an undo restores it.
 */
export interface FilesBefore {
  /** The blob with the concatenated contents of `files`; null if all are empty or missing. */
  readonly pack: string | null;
  readonly files: readonly FileBefore[];
  /** Snapshots of git working trees, for calls that may change any file in them. */
  readonly trees: readonly WorkingTree[];
  /** The reason why the content of some files could not be stored. */
  readonly missing?: string | undefined;
}

/** One file in the pack. `length` null: the file did not exist. The path contains no symlinks. */
export interface FileBefore {
  readonly path: string;
  readonly mode: number;
  readonly from: number;
  readonly length: number | null;
}

/** A git tree object in the thread's own object store. `top`: the folder of the working tree. */
export interface WorkingTree {
  readonly top: string;
  readonly tree: string;
}

/** Data for the diff and the undo of a turn: file contents before its calls, and which diffs clients got. */
export interface TurnChanges {
  readonly before: readonly FilesBefore[];
  /**
   * `ended`: the number of ended calls that may have changed files. `shown`: how many of them the last diff includes.
   */
  readonly ended: number;
  readonly shown: number;
  /** `digest`: the digest of the last diff that clients got. `sent`: the total characters of all sent diffs. */
  readonly digest: string | null;
  readonly sent: number;
}

const NONE: TurnChanges = { before: [], ended: 0, shown: 0, digest: null, sent: 0 };

/** Adds the content that files had before a call. */
export function withBefore({ changes = NONE }: TurnState, before: FilesBefore): Partial<TurnState> {
  return { changes: { ...changes, before: [...changes.before, before] } };
}

/** Counts an item that may have changed files. */
export function afterItem({ changes }: TurnState, item: ThreadItem): Partial<TurnState> | undefined {
  if (changes === undefined || !mayHaveChanged(item)) return undefined;
  return { changes: { ...changes, ended: changes.ended + 1 } };
}

/** Counts a call of a local tool. The call's command may continue in the background and complete its item later. */
export function afterCall(turn: TurnState, callId: string): Partial<TurnState> | undefined {
  const { changes } = turn;
  if (changes === undefined) return undefined;
  const stage = findCall(callsOf(turn), callId)?.stage;
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

/** The file changes of an ending turn, if clients were not sent all of them. */
export function undiffedAfter(turn: TurnState | null): Pick<ThreadState, "undiffed"> {
  if (turn?.changes === undefined || !isDiffDue(turn)) return {};
  return { undiffed: { turnId: turn.id, changes: turn.changes } };
}

/** The state after the file changes of the last turn were sent. */
export function withoutUndiffed(state: ThreadState): ThreadState {
  if (state.undiffed === undefined) return state;
  const { undiffed: _, ...rest } = state;
  return rest;
}

/** The file changes of a turn, if they still have to be sent. */
export function changesOf({ turn, undiffed }: ThreadState, turnId: string): TurnChanges | undefined {
  if (turn?.id === turnId) return turn.changes;
  return undiffed?.turnId === turnId ? undiffed.changes : undefined;
}

/** Whether a new diff is due, because a call has ended since the last diff. */
export function isDiffDue({ changes }: TurnState): boolean {
  return changes !== undefined && changes.ended > changes.shown;
}
