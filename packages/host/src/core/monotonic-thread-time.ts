import type { ThreadItem } from "@bobbin/protocol";
import type { Command } from "./commands.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadState } from "./state.ts";

/** If recorded times are ahead of the clock by more than this, the clock that wrote them was wrong. */
const WRONG_BY_MS = 24 * 60 * 60 * 1000;

/**
 * The time of a thread when the machine's clock reads `at`. A thread's time does not go back when the clock is set
 * back. The exception: between turns, if the last record is more than a day ahead of the clock, because a wrong clock
 * wrote it.
 */
export function threadTime({ lastAt, turn }: ThreadState, at: number): number {
  if (at >= lastAt) return at;
  return turn === null && lastAt - at > WRONG_BY_MS ? at : lastAt;
}

/**
 * Replaces the command's clock time by the thread's time. If that is later, the command's deadlines move by as much.
 */
export function atThreadTime(state: ThreadState, command: Command): Command {
  if (!("at" in command)) return command;
  const at = threadTime(state, command.at);
  if (at === command.at) return command;
  const later = at - command.at;
  if (command.kind === "choiceDelayed") return { ...command, at, until: command.until + later };
  // Deadlines of later steps stay: the dispatch recorded them in the thread's time.
  if (command.kind !== "stepCall" || command.step.kind !== "dispatch") return { ...command, at };
  const { step } = command;
  return {
    ...command,
    at,
    step: { ...step, until: step.until === undefined ? undefined : step.until + later },
  };
}

/**
 * Corrects the times of items, so that no time is before an earlier one. Times of items come from the machine's clock,
 * which may have been set back since the item started or since the previous record. `notBefore`: the time of the
 * previous record, if the clock was set back since.
 */
export function withOrderedItems(
  { turn }: ThreadState,
  records: readonly ThreadRecord[],
  notBefore: number,
): readonly ThreadRecord[] {
  let out: ThreadRecord[] | undefined;
  for (const [index, record] of records.entries()) {
    if (record.type !== "itemStarted" && record.type !== "itemCompleted") continue;
    const open = turn?.open.find(({ id }) => id === record.item.id);
    const started = open === undefined ? later(record.item.startedAtMs, notBefore) : open.startedAtMs;
    const item = ordered(record.item, started, record.at);
    if (item === record.item) continue;
    out ??= [...records];
    out[index] = { ...record, item };
  }
  return out ?? records;
}

function later(ms: number | null | undefined, notBefore: number): number | null {
  return ms == null ? null : Math.max(ms, notBefore);
}

/** Returns the item with its recorded start and with a completion time that is not before the start. */
function ordered(item: ThreadItem, started: number | null | undefined, at: number): ThreadItem {
  if (started == null) return item;
  const startedAtMs = Math.min(started, at);
  const completedAtMs =
    item.completedAtMs == null || item.completedAtMs >= startedAtMs ? item.completedAtMs : at;
  if (startedAtMs === item.startedAtMs && completedAtMs === item.completedAtMs) return item;
  const times = { ...item, startedAtMs, completedAtMs };
  if (!("durationMs" in times) || times.durationMs == null) return times;
  // The duration of a command is measured by the monotonic clock, unless it was not started or was given up.
  if (times.type === "commandExecution" && times.durationMs >= 0) return times;
  return { ...times, durationMs: Math.max(0, (completedAtMs ?? at) - startedAtMs) };
}
