import type { ThreadItem } from "@bobbin/protocol";
import type { Command } from "./commands.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadState } from "./state.ts";

/** A clock that was ahead of the present one by more than this was wrong, and its times are given up. */
const WRONG_BY_MS = 24 * 60 * 60 * 1000;

/**
 * The time that counts for a thread when the machine's clock says `at`. It does not go back when the clock does, with
 * one exception: between turns, a last record that lies more than a day ahead was written by a clock that was wrong.
 */
export function threadTime({ lastAt, turn }: ThreadState, at: number): number {
  if (at >= lastAt) return at;
  return turn === null && lastAt - at > WRONG_BY_MS ? at : lastAt;
}

/** The command at the thread's time; what is due some time after it is due as long after that. */
export function atThreadTime(state: ThreadState, command: Command): Command {
  if (!("at" in command)) return command;
  const at = threadTime(state, command.at);
  if (at === command.at) return command;
  const later = at - command.at;
  if (command.kind === "choiceDelayed") return { ...command, at, until: command.until + later };
  // A wait is until the deadline that was recorded with the dispatch, at the thread's time.
  if (command.kind !== "stepCall" || command.step.kind !== "dispatch") return { ...command, at };
  const { step } = command;
  return {
    ...command,
    at,
    step: { ...step, until: step.until === undefined ? undefined : step.until + later },
  };
}

/**
 * Puts the times of items in order. Whoever makes an item reads the machine's clock, which may have been set back since
 * the item started, or since the record before it: then `notBefore` is that record's time.
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

/** The item, started when it was started, and completed at the record's time if its own is before that. */
function ordered(item: ThreadItem, started: number | null | undefined, at: number): ThreadItem {
  if (started == null) return item;
  const startedAtMs = Math.min(started, at);
  const completedAtMs =
    item.completedAtMs == null || item.completedAtMs >= startedAtMs ? item.completedAtMs : at;
  if (startedAtMs === item.startedAtMs && completedAtMs === item.completedAtMs) return item;
  const times = { ...item, startedAtMs, completedAtMs };
  if (!("durationMs" in times) || times.durationMs == null) return times;
  return { ...times, durationMs: Math.max(0, (completedAtMs ?? at) - startedAtMs) };
}
