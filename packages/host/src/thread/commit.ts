import type { Command } from "../core/commands.ts";
import type { Decision } from "../core/decide.ts";
import { checkpointOf } from "../core/life/make-checkpoint.ts";
import type { Notification } from "../core/notification.ts";
import { notify } from "../core/notify.ts";
import type { Durability } from "../core/record-table.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { Fault } from "../errors.ts";
import { restoreBlobs } from "../history/restore-item-blobs.ts";
import type { Platform } from "../platform/platform.ts";
import { append } from "../store/append.ts";
import type { ThreadJournal } from "../store/journal.ts";
import type { Actor } from "./actor.ts";
import type { Letter } from "./mailbox.ts";
import type { ThreadObserver } from "./observers.ts";
import type { Cursor } from "./subscription.ts";

/** A thread that commits are made for: a loaded one, or one that is opened for one commit. */
export interface CommitTarget {
  readonly id: string;
  readonly journal: ThreadJournal;
  /** Undefined if the thread is not loaded. */
  readonly actor: Actor | undefined;
  decide(state: ThreadState, command: Command | undefined): Decision;
  /** Called for each decided record, before it is written. */
  recording(record: ThreadRecord): void;
  isCheckpointDue(records: readonly ThreadRecord[]): boolean;
  /** The durability that a commit needs. `isAsked`: the caller wants the commit synced. */
  durability(commit: Commit, isAsked: boolean): Durability;
  /** Called when the commit is durable, before clients are notified. */
  written(commit: Commit, state: ThreadState, bytes: number): void;
  /** Notifies clients of a record. `first`: the position of the record's first notification. */
  tell(record: ThreadRecord, notifications: readonly Notification[], first: Cursor): void;
}

export interface CommitPorts {
  readonly platform: Pick<Platform, "timers">;
  readonly observers: Pick<Required<ThreadObserver>, "committed">;
}

/** The decision on a batch of letters, before it is written. */
export interface BatchDecision {
  readonly state: ThreadState;
  /** The number of the commit before this one. */
  readonly prev: number;
  readonly records: ThreadRecord[];
  /** Replies and notifications, in the order of the letters. */
  readonly tell: readonly (() => void)[];
  /** The notifications of each record, with references in place of the content of blobs. */
  readonly lean: readonly Notification[][];
  readonly isAsked: boolean;
  /** The number of decided letters. The remaining ones need another commit. */
  readonly taken: number;
}

/**
 * Limit on the text in a commit of several commands. A commit is written and parsed in one step, and readers leave out
 * lines beyond a limit (`MAX_LINE`); so only a single command can make a large commit.
 */
const MAX_BATCH_CHARS = 4 * 1024 * 1024;

/** Decides letters one after the other. Each is decided on the state that the previous ones led to. */
export function decideLetters(
  target: CommitTarget,
  letters: readonly Letter[],
  before: ThreadState,
  prev: number,
): BatchDecision {
  const records: ThreadRecord[] = [];
  const tell: (() => void)[] = [];
  const lean: Notification[][] = [];
  const seq = prev + 1;
  let state = before;
  let index = 0;
  let isAsked = false;
  let taken = 0;
  let chars = 0;
  for (const letter of letters) {
    const decision = target.decide(state, letter.command);
    if (decision.kind === "accepted") {
      // A turn is found by the commit that starts it, so no commit may start two turns.
      if (startsTurn(decision.records) && startsTurn(records)) break;
      if (letters.length > 1) chars += charsOf(decision.records);
      if (chars > MAX_BATCH_CHARS && records.length > 0) break;
    }
    taken++;
    isAsked ||= letter.synced;
    if (decision.kind === "refused") {
      tell.push(refusal(letter, decision.fault));
      continue;
    }
    state = decision.state;
    tell.push(consent(letter, decision.state, decision.records));
    for (const record of decision.records) {
      target.recording(record);
      const notifications = [...notify(target.id, record)];
      lean.push(notifications);
      const first = index;
      index += notifications.length;
      records.push(record);
      const { epoch } = state;
      tell.push(() => target.tell(record, notifications, { epoch, seq, index: first }));
    }
  }
  return { state, prev, records, tell, lean, isAsked, taken };
}

/** The number of characters of all texts in a value. */
function charsOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let chars = 0;
  for (const inner of Object.values(value)) chars += charsOf(inner);
  return chars;
}

/**
 * Writes a decision, for loaded and stored threads alike: appends the commit, updates the thread's state, sends
 * replies and notifications, and calls the observers. If this function throws before `target.written`, it is unknown
 * whether the commit is in the journal.
 */
export async function commit(
  target: CommitTarget,
  { state, prev, records, tell, lean, isAsked }: BatchDecision,
  { platform: { timers }, observers }: CommitPorts,
): Promise<void> {
  if (records.length === 0) {
    for (const one of tell) one();
    return;
  }
  const { journal, actor } = target;
  if (target.isCheckpointDue(records)) records.push(checkpointOf(state));
  const commit: Commit = { seq: prev + 1, epoch: state.epoch, prev, records };
  const bytes = await append(journal, commit, target.durability(commit, isAsked), state, timers);
  const restored = restoreBlobs(lean, (name) => journal.blob(name));
  if (restored !== undefined) await restored;
  target.written(commit, state, bytes);
  for (const one of tell) one();
  observers.committed(commit, state, { journal, actor });
}

/**
 * The callback of an accepted letter. A letter without `committed` gets a callback that does not reference the state,
 * which may be large.
 */
function consent(
  { committed, done }: Letter,
  state: ThreadState,
  records: readonly ThreadRecord[],
): () => void {
  return committed === undefined ? done : () => committed(state, records);
}

function refusal({ refused }: Letter, why: Fault): () => void {
  return () => refused(why);
}

function startsTurn(records: readonly ThreadRecord[]): boolean {
  return records.some(({ type }) => type === "turnStarted");
}
