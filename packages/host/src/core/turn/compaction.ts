import type { ThreadItem, ThreadTokenUsage } from "@bobbin/protocol";
import type { TurnCommand } from "../commands.ts";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import { clearNetwork } from "../requests/resolve.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { endTurn, requestSample, retrying, turnEnded } from "./ending.ts";
import { isCompaction } from "./own-items.ts";
import type { Compacting, TurnRecord } from "./records.ts";
import { addUsage } from "./usage.ts";

/** How often less and less of the conversation is shown to a model that finds it too long to summarise. */
const MOST_LIGHTER = 6;

/** A turn that may shorten what the model is shown. A second time in a row would not help. */
export function mayCompact({ kind, compacting, compacted }: TurnState): boolean {
  return kind === "regular" && compacting === null && compacted === "no";
}

/** What has come in a turn before its first answer is not old: only what was before it is summarised. */
export function coverage({ answers }: TurnState): Compacting["covers"] {
  return answers === 0 ? "past" : "all";
}

/** A turn that does nothing else. Whatever runs ends for it. */
export function startCompaction(
  state: ThreadState,
  { at, turnId }: { readonly at: number; readonly turnId: string },
  shown: ShownText,
): readonly ThreadRecord[] {
  return [
    ...endTurn(state, at, "interrupted", shown),
    { type: "turnStarted", turnId, at, input: [], outputSchema: null, kind: "compact" },
    ...beginCompaction({ id: turnId, attempt: 0 }, at, { covers: "all", lighter: 0, because: null }),
  ];
}

/** Takes the place of the call of the model that was due. */
export function beginCompaction(
  { id: turnId, attempt }: Pick<TurnState, "id" | "attempt">,
  at: number,
  how: Compacting,
): readonly ThreadRecord[] {
  return [
    { type: "itemStarted", turnId, at, item: compactionItem(`${turnId}-compaction-${attempt + 1}`, at) },
    { type: "compactionRequested", turnId, at, attempt: attempt + 1, ...how },
  ];
}

function compactionItem(id: string, at: number): ThreadItem {
  return { type: "contextCompaction", id, startedAtMs: at, completedAtMs: null };
}

type Summarised = Extract<TurnCommand, { kind: "summarised" }>;

/** What comes of a call of the model for a summary. */
export function summarised(
  state: ThreadState,
  turn: TurnState & { readonly compacting: Compacting },
  { at, outcome }: Summarised,
  shown: ShownText,
): readonly ThreadRecord[] {
  const { id: turnId, attempt, compacting } = turn;
  const again = (how: Compacting): TurnRecord => ({
    type: "compactionRequested",
    turnId,
    at,
    attempt: attempt + 1,
    ...how,
  });
  if (outcome.kind === "done") {
    const { summary, kept } = outcome;
    const usage: ThreadTokenUsage = {
      total: addUsage(state.usage?.total, outcome.usage),
      last: { ...NOTHING, totalTokens: outcome.contextTokens },
      modelContextWindow: outcome.contextWindow ?? state.usage?.modelContextWindow ?? null,
    };
    return [
      ...turn.open.filter(isCompaction).map(
        (item): ThreadRecord => ({
          type: "itemCompleted",
          turnId,
          at,
          item: { ...item, completedAtMs: at },
        }),
      ),
      { type: "compacted", turnId, at, attempt, summary, kept, spent: outcome.usage, usage },
      ...(turn.kind === "compact"
        ? [...clearNetwork(state, at), turnEnded(turn, at, "completed", null)]
        : [requestSample(turn)]),
    ];
  }
  const { error, retry } = outcome;
  if (retry !== undefined && turn.retries < retry.of) {
    return [again(compacting), retrying(turn, at, error, retry)];
  }
  if (error.codexErrorInfo === "contextWindowExceeded" && compacting.lighter < MOST_LIGHTER) {
    return [again({ ...compacting, lighter: compacting.lighter + 1 })];
  }
  if (turn.kind === "compact") return endTurn(state, at, "failed", shown, error);
  // The model has refused the conversation as it is, so there is no way on.
  if (compacting.because !== null) return endTurn(state, at, "failed", shown, compacting.because);
  return [{ type: "compactionFailed", turnId, at, error }, requestSample(turn)];
}

const NOTHING = {
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};
