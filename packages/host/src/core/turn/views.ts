import type { Turn } from "@bobbin/protocol";
import { seconds } from "../seconds.ts";
import type { TurnRecord } from "./records.ts";

/** A turn as clients are sent it while it runs: its items come as notifications of their own. */
export function turnStarted(id: string, at: number | null): Turn {
  return {
    id,
    rootTurnId: id,
    items: [],
    itemsView: "notLoaded",
    status: "inProgress",
    error: null,
    startedAt: at === null ? null : seconds(at),
    completedAt: null,
    durationMs: null,
  };
}

/** A turn as clients are sent it at its end: with the model's answer alone. */
export function turnCompleted(record: Extract<TurnRecord, { type: "turnEnded" }>): Turn {
  const { turnId, startedAt, at, status, error, answer } = record;
  return {
    ...turnStarted(turnId, startedAt),
    items: answer === null ? [] : [answer],
    itemsView: answer === null ? "notLoaded" : "summary",
    status,
    error,
    completedAt: seconds(at),
    durationMs: Math.max(0, at - startedAt),
  };
}
