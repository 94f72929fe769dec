import type { MessagePhase } from "@bobbin/protocol";
import { environmentsOf, type JournalLocation, threadView } from "../core/life/thread-view.ts";
import { readStateOf } from "../core/read-state/read-state-view.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { IndexedText, TextKind, ThreadIndex, ThreadRow } from "./thread-index.ts";

/** The index row of a thread. */
export function rowOf(state: ThreadState, seq: number, place: JournalLocation): ThreadRow {
  const { facts, section } = state;
  return {
    id: facts.id,
    owner: facts.owner,
    seq,
    archived: place.archived,
    // A thread with only a goal has the objective as its preview.
    listed: state.hasUserMessage || state.preview !== "",
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
    recencyAt: state.updatedAt,
    parentThreadId: facts.parentThreadId,
    sectionId: section?.id ?? null,
    sectionPosition: section?.position ?? null,
    readState: readStateOf(state),
    // The reader of the row sets the status.
    thread: {
      ...threadView({ ...state, status: { type: "notLoaded" } }, place),
      environments: environmentsOf(state.settings),
    },
  };
}

/**
 * Whether a thread is in the index. A thread is added with its second commit: a thread that was only started is not
 * listed, and each start saves a write.
 */
export function isIndexed(state: ThreadState, seq: number): boolean {
  return seq > 1 || state.facts.parentThreadId !== null;
}

/** Updates the index for new commits of a thread. `state`: the state after these commits. */
export function recordCommits(
  index: Pick<ThreadIndex, "record">,
  commits: readonly Commit[],
  state: ThreadState,
  place: JournalLocation,
): void {
  const last = commits.at(-1)!;
  if (!isIndexed(state, last.seq)) return;
  const row = rowOf(state, last.seq, place);
  if (commits.length === 1) index.record(row, textsOf(last), droppedTurns(last));
  else index.record(row, commits.flatMap(textsOf), commits.flatMap(droppedTurns));
}

/** Collects the index data of commits while they are written, for a thread that is stored as a whole. */
export class PassingCommits {
  readonly #texts: IndexedText[] = [];
  readonly #goneTurns: string[] = [];
  #seq = 0;

  async *of(commits: AsyncIterable<Commit>): AsyncIterable<Commit> {
    for await (const commit of commits) {
      for (const text of textsOf(commit)) this.#texts.push(text);
      this.#goneTurns.push(...droppedTurns(commit));
      this.#seq = commit.seq;
      yield commit;
    }
  }

  /** Updates the index. `state`: the state after the commits. */
  record(index: Pick<ThreadIndex, "record">, state: ThreadState, place: JournalLocation): void {
    index.record(rowOf(state, this.#seq, place), this.#texts, this.#goneTurns);
  }
}

/** The searchable texts of a commit. */
export function textsOf({ records, seq }: Commit): IndexedText[] {
  const texts: IndexedText[] = [];
  for (const [nth, record] of records.entries()) {
    const place = seq * RECORDS_PER_COMMIT + Math.min(nth, RECORDS_PER_COMMIT - 1);
    if (record.type === "itemsInjected")
      texts.push(...injectedTexts(record, `:injected ${seq} ${nth}`, place));
    if (record.type !== "itemCompleted") continue;
    const { item, turnId, at } = record;
    const about = { turnId, itemId: item.id, at, place };
    if (item.type === "agentMessage") {
      texts.push({ ...about, role: "agent", text: item.text, kind: answerKind(item.phase) });
    } else if (item.type === "userMessage") {
      const parts = item.content.map((part) => (part.type === "text" ? part.text : ""));
      const text = parts.join("\n");
      const ownWords = parts.map(withoutContext).join("");
      texts.push({
        ...about,
        role: "user",
        text,
        kind: "user",
        ...(ownWords !== text && { said: ownWords }),
      });
    }
  }
  return texts.filter(({ text }) => text.trim() !== "");
}

/** Limit on the distinct positions of records in one commit. Further records share the last position. */
const RECORDS_PER_COMMIT = 65_536;

/** The number of the commit with a text at a position. */
export function commitAt(place: number): number {
  return Math.floor(place / RECORDS_PER_COMMIT);
}

function answerKind(phase: MessagePhase | null): TextKind {
  switch (phase) {
    case "final_answer":
      return "final";
    case "partial_answer":
      return "partial";
    case "commentary":
      return "other";
    default:
      return "answer";
  }
}

/** The line that some clients insert between the context that they add and the user's own words. */
const REQUEST = "## My request for Codex:";

function withoutContext(text: string): string {
  const at = text.indexOf(REQUEST);
  return (at < 0 ? text : text.slice(at + REQUEST.length)).trim();
}

/** The texts of messages that a client injected, except developer messages. */
function injectedTexts(
  { items, at, after = "" }: Extract<ThreadRecord, { type: "itemsInjected" }>,
  name: string,
  place: number,
): IndexedText[] {
  return items.flatMap((item, nth): IndexedText[] => {
    const { type, role, content } = Object(item) as Record<string, unknown>;
    if (type !== "message" || (role !== "user" && role !== "assistant") || !Array.isArray(content)) return [];
    const text = content.map((part: { text?: unknown }) => (typeof part?.text === "string" ? part.text : ""));
    const itemId = `${name} ${nth}`;
    const about = { turnId: after, itemId, at, place, kind: "other" } as const;
    return [{ ...about, role: role === "user" ? "user" : "agent", text: text.join("\n") }];
  });
}

/** The turns that a commit rolls back. Their texts are removed from the index. */
export function droppedTurns({ records }: Commit): string[] {
  return records.flatMap((record) => (record.type === "turnsDropped" ? record.dropped : []));
}
