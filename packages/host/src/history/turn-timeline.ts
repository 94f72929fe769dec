import type { Result, TokenUsageBreakdown } from "@bobbin/protocol";
import type { Check } from "../core/record-check.ts";
import { RECORDS, type ThreadRecord } from "../core/records.ts";
import { addUsage, NO_TOKENS } from "../core/turn/usage.ts";
import { fault } from "../errors.ts";
import type { JournalReader, Position, WantedRecords } from "../store/journal.ts";
import { TimelineCollector } from "./timeline-collector.ts";

type Journal = Pick<JournalReader, "backwards" | "forwards" | "naming">;

/** The cost of tokens in millionths of a dollar; null for a model without a price. */
export type CostOf = (model: string, usage: TokenUsageBreakdown) => number | null;

/**
 * How a turn spent its time and tokens. `model` is the thread's current one. Also works while the turn runs, and after
 * it was rolled back.
 */
export async function turnTimeline(
  journal: Journal,
  turnId: string,
  { costOf, model }: { readonly costOf: CostOf; readonly model: string },
): Promise<Result<"turn/timeline/read">> {
  const start = await startOf(journal, turnId);
  if (start === undefined) throw fault("turnNotFound", turnId);
  const timeline = new TimelineCollector(turnId, (await modelBefore(journal, start, turnId)) ?? model);
  for await (const { commit } of journal.forwards(start)) {
    const first = commit.seq === start.seq ? indexOfStart(commit.records, turnId) : 0;
    timeline.take({ records: commit.records.slice(first) });
    if (timeline.isEnded) break;
  }
  const costs = new CostSum(costOf);
  for (const { model, usage } of timeline.usage) costs.add(model, usage);
  return {
    turnId,
    status: timeline.status,
    startedAtMs: timeline.startedAtMs,
    completedAtMs: timeline.completedAtMs,
    spans: timeline.spans
      .map((span) => ({ ...span, costUsdMicros: span.usage && costs.of(span.model, span.usage) }))
      .toSorted((one, other) => one.startedAtMs - other.startedAtMs),
    omittedSpans: timeline.omitted,
    usage: costs.usage,
    costUsdMicros: costs.cost,
    unpricedModels: [...costs.unpriced],
  };
}

/** Adds up tokens and costs. */
class CostSum {
  usage: TokenUsageBreakdown = NO_TOKENS;
  cost: number | null = null;
  readonly unpriced = new Set<string>();
  readonly #costOf: CostOf;

  constructor(costOf: CostOf) {
    this.#costOf = costOf;
  }

  of(model: string | null, usage: TokenUsageBreakdown): number | null {
    return model === null ? null : this.#costOf(model, usage);
  }

  add(model: string | null, usage: TokenUsageBreakdown): void {
    this.usage = addUsage(this.usage, usage);
    const cost = this.of(model, usage);
    if (cost !== null) this.cost = (this.cost ?? 0) + cost;
    else this.unpriced.add(model ?? "");
  }
}

/**
 * Number of commits at the end that are searched for a turn first, because most callers want the last turn or the one
 * before it.
 */
const RECENT_COMMITS = 64;
const TURN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const STARTS: WantedRecords = new Map([["turnStarted", RECORDS.turnStarted.check]]);

/** Finds the position of the commit that starts a turn. */
async function startOf(journal: Journal, turnId: string): Promise<Position | undefined> {
  // A text that is no turn ID could occur in every commit, and then all of them would be parsed.
  if (!TURN_ID.test(turnId)) return undefined;
  let commits = 0;
  for await (const { commit, start } of journal.backwards(undefined, STARTS)) {
    if (indexOfStart(commit.records, turnId) >= 0) return { seq: commit.seq, hint: start };
    commits++;
    if (commits === RECENT_COMMITS) break;
  }
  if (commits < RECENT_COMMITS) return undefined;
  for await (const { commit, start } of journal.naming(turnId)) {
    if (indexOfStart(commit.records, turnId) >= 0) return { seq: commit.seq, hint: start };
  }
  return undefined;
}

function indexOfStart(records: readonly ThreadRecord[], turnId: string): number {
  return records.findIndex((record) => record.type === "turnStarted" && record.turnId === turnId);
}

const SETTINGS: WantedRecords = new Map<ThreadRecord["type"], Check>([
  ["created", RECORDS.created.check],
  ["settingsChanged", RECORDS.settingsChanged.check],
  ["checkpoint", RECORDS.checkpoint.check],
]);

/** A journal has a checkpoint at least this often. */
const CHECKPOINT_COMMITS = 320;

/** The thread's model at the start of a turn, from the last checkpoint or change. Null if there is none nearby. */
async function modelBefore(journal: Journal, start: Position, turnId: string): Promise<string | null> {
  let commits = 0;
  for await (const { commit } of journal.backwards({ seq: start.seq }, SETTINGS)) {
    const end = commit.seq === start.seq ? indexOfStart(commit.records, turnId) : commit.records.length;
    for (const record of commit.records.slice(0, end).toReversed()) {
      if (record.type === "created" || record.type === "settingsChanged") return record.settings.model;
      if (record.type === "checkpoint") return record.state.settings.model;
    }
    if (++commits === CHECKPOINT_COMMITS) break;
  }
  return null;
}
