import type { CollabAgentState } from "@bobbin/protocol";
import { inline, nullable, omittable, string } from "@bobbin/protocol/schema";
import { RUNNING } from "../core/children/helper-thread-state.ts";
import { UNLOAD_REASON } from "../core/life/record-field-schemas.ts";
import type { UnloadReason } from "../core/life/records.ts";
import { type Check, fields } from "../core/record-check.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import { outcome } from "../core/turn/record-field-schemas.ts";
import type { JournalReader, WantedRecords } from "../store/journal.ts";

/** What a helper's parent learns from one commit of the helper's journal. */
export interface CommitNews {
  readonly seq: number;
  /** The IDs of inputs that the helper has received. */
  readonly taken: readonly string[];
  readonly states: readonly CollabAgentState[];
  /** Whether a user or the model closed the helper's thread. An unload by the host does not count. */
  readonly closed: boolean;
}

/** The records of a helper's journal that its parent needs. */
const NEWS_RECORDS: WantedRecords = new Map<ThreadRecord["type"], Check>([
  ["turnStarted", fields(() => ({ turnId: string() }))],
  ["inputAccepted", fields(() => ({ messageId: string() }))],
  [
    "turnEnded",
    fields(() => ({
      ...outcome(),
      answer: nullable(inline(() => ({ type: string(), text: omittable(string()) }))),
    })),
  ],
  ["opened", fields(() => ({}))],
  ["adopted", fields(() => ({}))],
  ["closed", fields(() => ({ reason: UNLOAD_REASON }))],
]);

/** Limit on a helper's last message in the journal of its parent. */
const MAX_MESSAGE_CHARACTERS = 128 * 1024;

/** The reasons for which the host itself unloads a thread, not a user or the model. */
const BY_HOST: ReadonlySet<UnloadReason> = new Set(["shutdown", "lost", "unsubscribed", "moved"]);

const HOST_ENDED: CollabAgentState = {
  status: "errored",
  message:
    "The host ended while the agent was at work, and its turn was cut off. Use send_input to continue it.",
};

/** The news about a helper after a commit of its journal, oldest first. */
export async function* newsAfter(journal: JournalReader, seq: number): AsyncIterable<CommitNews> {
  for await (const { commit } of journal.forwards({ seq: seq + 1 }, NEWS_RECORDS)) {
    const news = newsOf(commit);
    if (news !== undefined) yield news;
  }
}

/** Whether a commit of a helper's journal may contain news for its parent. */
export function hasNews({ records }: Commit): boolean {
  return records.some(({ type }) => type === "turnStarted" || type === "turnEnded" || type === "closed");
}

/** The news without the helper's end: keeps results, and drops that the helper was closed or its turn cut off. */
export function resultsOnly(news: CommitNews): CommitNews {
  return { ...news, states: news.states.filter((state) => state !== HOST_ENDED), closed: false };
}

function newsOf({ seq, records }: Commit): CommitNews | undefined {
  const closing = records.find((record) => record.type === "closed");
  const closed = closing !== undefined && !BY_HOST.has(closing.reason);
  const lost =
    (closing !== undefined && !closed) || records.some(({ type }) => type === "opened" || type === "adopted");
  const states = records.flatMap((record) => stateAfter(record, { lost, closed }));
  const taken = records.flatMap((record) => (record.type === "inputAccepted" ? [record.messageId] : []));
  if (states.length === 0 && taken.length === 0 && !closed) return undefined;
  return { seq, taken, states, closed };
}

function stateAfter(
  record: ThreadRecord,
  { lost, closed }: { readonly lost: boolean; readonly closed: boolean },
): readonly CollabAgentState[] {
  if (record.type === "turnStarted") return [RUNNING];
  if (record.type !== "turnEnded") return [];
  const { status, error, answer } = record;
  switch (status) {
    case "completed": {
      const message = answer?.type === "agentMessage" ? shortened(answer.text) : null;
      return [{ status: "completed", message }];
    }
    case "failed":
      return [{ status: "errored", message: shortened(error?.message ?? "the turn failed") }];
    case "interrupted":
      if (lost) return [HOST_ENDED];
      return closed ? [] : [{ status: "interrupted", message: null }];
  }
}

function shortened(text: string): string {
  const left = text.length - MAX_MESSAGE_CHARACTERS;
  return left <= 0 ? text : `${text.slice(0, MAX_MESSAGE_CHARACTERS)}\n(… ${left} more characters)`;
}
