import type { Place } from "../core/life/views.ts";
import type { Check } from "../core/record-check.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import { fault } from "../errors.ts";

/** Where threads are kept. Files and memory, and whatever comes later, pass the same tests. */
export interface Journal {
  /** Makes an empty journal for a new thread and takes it for writing. */
  create(threadId: string): Promise<ThreadJournal>;
  /** Takes a stored thread for writing; undefined if there is none. Throws who has it if another host does. */
  open(threadId: string): Promise<ThreadJournal | undefined>;
  /** For reading only, whoever has the thread; undefined if there is none. */
  read(threadId: string): Promise<JournalReader | undefined>;
  /** Makes what is stored of a thread survive a power cut, whoever wrote it. */
  sync(threadId: string): Promise<void>;
  /**
   * The thread that a client's key stands for: this one, unless the key stood for another before. That one may not be
   * there yet: then it is this host's to make.
   */
  reserve(key: string, threadId: string): Promise<string>;
  /** The key stands for no thread any more. */
  release(key: string): Promise<void>;
  /** Every stored thread. */
  threads(): AsyncIterable<{ readonly id: string; readonly archived: boolean }>;
  /** Whether this host has made every stored thread. Answered once, then false. */
  madeAll(): Promise<boolean>;
  /** How other hosts know this one. */
  readonly hostId: string;
  /** The other host that has a thread loaded; undefined if none does, or if that cannot be found out. */
  holder(threadId: string): Promise<string | undefined>;
  /** The other hosts that have one of these threads loaded, by thread. Cheap for lists: up to a second old. */
  holders(threadIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Threads that were held by hosts that are gone. */
  abandoned(): Promise<readonly string[]>;
  /** Ends the claim of a host that is gone on a thread that is gone too. */
  disown(threadId: string): Promise<void>;
  /** The machine went down while threads were held: what is told of abandoned ones, and by the index, may not be all. */
  lostPower(): Promise<boolean>;
  /** All that could be lost was made good. */
  madeGood(): Promise<void>;
  /** This host is about to end: others that want its threads may wait for them. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface JournalReader {
  readonly place: Place;
  /**
   * Commits newest first, from the end or from before a place that was given out earlier. A place that no commit ends
   * at, such as one of another journal, counts as the end of the commit before it. `wanted`: what of which
   * records is used, if not all; nothing else is checked, which costs less.
   */
  backwards(before?: number, wanted?: WantedRecords): AsyncIterable<Placed>;
  /**
   * Commits oldest first, from a place that was given out earlier or from the start. A place that no commit begins at
   * counts as the beginning of the next one.
   */
  forwards(from?: number, wanted?: WantedRecords): AsyncIterable<Placed>;
  /** Like `forwards`, but only commits that have a text in them. Others cost a look at their bytes and are not parsed. */
  naming(text: string, from?: number): AsyncIterable<Placed>;
  /** Where the first commit after `seq` is. */
  locate(seq: number): Promise<number>;
  /** Nothing was ever written to it, or a power cut took all that was; else it holds a thread, readable or not. */
  isEmpty(): Promise<boolean>;
  /** What was kept beside it under a name; undefined if it is not there. */
  blob(name: string): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** The records that a reader uses, with a check of those fields that it uses of them. */
export type WantedRecords = ReadonlyMap<ThreadRecord["type"], Check>;

/** A commit and where it is. Places stay what they are as long as the journal is. */
export interface Placed {
  readonly commit: Commit;
  readonly start: number;
  readonly end: number;
}

/** One thread's journal, held by its only writer. */
export interface ThreadJournal extends JournalReader {
  /**
   * A host that is gone had it, or this one could not write to it: the index may not know all, and a load may have no
   * end. It is not given back before `madeGood`, so that the next start finds it if nobody here does.
   */
  readonly undone: boolean;
  leaveUndone(): void;
  madeGood(): void;
  /**
   * Writes one commit, or some that follow each other in one go. `committed`: it survives a kill of this process. `conflict`: someone else has written
   * there, nothing was. `unknown`: it may or may not be there; the journal has to be read again first.
   */
  append(...commits: Commit[]): Promise<AppendOutcome>;
  /** Makes everything that was committed survive a power cut. A failure is thrown, never swallowed. */
  sync(): Promise<void>;
  /** Keeps what is too large for it, beside it. It survives a power cut before this returns. */
  keep(name: string, bytes: Uint8Array): Promise<void>;
  /** Where programs of the host may write what belongs to the thread; it goes with the thread. Undefined: nowhere. */
  readonly folder: string | undefined;
  /** Lets go of what costs memory or descriptors; the next use takes it again. */
  rest(): Promise<void>;
  /** Moves it to or from the archive. */
  archive(archived: boolean): Promise<void>;
  /** Removes every trace of it and gives the thread back. */
  destroy(): Promise<void>;
  /** Gives the thread back, if that was not done. */
  close(): Promise<void>;
}

export type AppendOutcome =
  | { readonly kind: "committed"; readonly bytes: number }
  | { readonly kind: "conflict" }
  | { readonly kind: "unknown"; readonly cause: unknown };

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Appends, or throws why not. Tells how many bytes it took. */
export async function append(journal: ThreadJournal, ...commits: Commit[]): Promise<number> {
  const outcome = await journal.append(...commits);
  if (outcome.kind === "conflict") throw fault("storageFailed", "someone else has written to the journal");
  if (outcome.kind === "unknown") throw fault("storageFailed", messageOf(outcome.cause));
  return outcome.bytes;
}
