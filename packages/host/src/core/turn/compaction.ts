import type { ThreadItem, ThreadTokenUsage } from "@bobbin/protocol";
import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import { clearNetwork } from "../requests/resolve-request.ts";
import type { ThreadState, TurnState } from "../state.ts";
import type { TurnCommand } from "./commands.ts";
import { endTurn, requestSample, retrying, turnEnded } from "./end-turn.ts";
import { isCompaction } from "./item-kinds.ts";
import type { Compacting, TurnRecord } from "./records.ts";
import { addUsage } from "./usage.ts";

/** Limit on how often the conversation is halved when it is too long for the model to summarize. */
const MOST_LIGHTER = 6;

/** Whether the turn may compact the conversation now. A second compaction in a row would not help. */
export function mayCompact({ kind, phase, compacted }: TurnState): boolean {
  return kind === "regular" && phase.kind === "sampling" && compacted === "no";
}

/** What a compaction covers: only earlier turns before the turn's first answer, else everything. */
export function coverage({ answers }: TurnState): Compacting["covers"] {
  return answers === 0 ? "past" : "all";
}

/** Starts a turn that only compacts the conversation. Interrupts the running turn. */
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

/** Starts a compaction in place of the model call that was due. */
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

/** The records that follow a model call for a summary: the compaction, a retry, or the end of the turn. */
export function summarised(
  state: ThreadState,
  turn: TurnState,
  compacting: Compacting,
  { at, outcome, lastHooks }: Summarised,
  shown: ShownText,
): readonly ThreadRecord[] {
  const { id: turnId, attempt } = turn;
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
      ...(turn.kind === "compact" && lastHooks !== undefined
        ? [{ type: "lastHooksDue", turnId, at, event: lastHooks } as const]
        : turn.kind === "compact"
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
  // The model refused the conversation as it was, so the turn cannot continue without a compaction.
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
