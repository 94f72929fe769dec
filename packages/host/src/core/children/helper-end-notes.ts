import { fold } from "../fold.ts";
import { injected } from "../life/inject-items.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { newsForModel } from "./helper-call-outcomes.ts";

/** Whether a helper has ended and the model was not informed. */
export function hasNews({ helpers }: ThreadState): boolean {
  return helpers.news.length > 0;
}

/** Adds notes about ended helpers for the model: at the start of a turn, and before each model call. */
export function withNews(
  before: ThreadState,
  records: readonly ThreadRecord[],
  at: number | undefined,
): readonly ThreadRecord[] {
  const isCalled = records.some(({ type }) => type === "sampleRequested");
  if (!isCalled || !(hasNews(before) || records.some(({ type }) => type === "helperHeard"))) return records;
  const out: ThreadRecord[] = [];
  let state = before;
  const add = (...more: readonly ThreadRecord[]): void => {
    for (const record of more) {
      out.push(record);
      state = fold(state, record);
    }
  };
  // Adds the notes in regular turns only: a code review, for example, does not include the conversation.
  const tell = (): void => {
    if (state.turn?.kind === "regular" && hasNews(state)) add(...reported(state, at ?? state.updatedAt));
  };
  for (const record of records) {
    if (record.type === "sampleRequested") tell();
    add(record);
    if (record.type === "turnStarted") tell();
  }
  return out;
}

function reported(state: ThreadState, at: number): readonly ThreadRecord[] {
  const { news } = state.helpers;
  return [
    injected(state, at, news.map(newsForModel)),
    ...news.map(({ childId, seq }): ThreadRecord => ({ type: "helperTold", at, childId, seq })),
  ];
}
