import type { Turn } from "@bobbin/protocol";
import { seconds } from "../whole-seconds.ts";
import type { TurnRecord } from "./records.ts";

/** The turn object of a running turn. Its items are sent as notifications of their own. */
export function turnStarted(id: string, at: number | null, rootTurnId = id): Turn {
  return {
    id,
    rootTurnId,
    items: [],
    itemsView: "notLoaded",
    status: "inProgress",
    error: null,
    startedAt: at === null ? null : seconds(at),
    completedAt: null,
    durationMs: null,
  };
}

/** The turn object at the end of a turn. It contains the model's answer only. */
export function turnCompleted(record: Extract<TurnRecord, { type: "turnEnded" }>): Turn {
  const { turnId, startedAt, at, status, error, answer, rootTurnId } = record;
  return {
    ...turnStarted(turnId, startedAt, rootTurnId),
    items: answer === null ? [] : [answer],
    itemsView: answer === null ? "notLoaded" : "summary",
    status,
    error,
    completedAt: seconds(at),
    durationMs: Math.max(0, at - startedAt),
  };
}
