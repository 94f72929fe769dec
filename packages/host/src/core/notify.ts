import type { NotificationName, NotificationParams, ThreadStatus, Turn } from "@bobbin/protocol";
import { goalView } from "./goal/views.ts";
import { settingsView } from "./life/views.ts";
import type { ThreadRecord } from "./records.ts";
import { seconds } from "./seconds.ts";

/** A durable notification: made from a record alone, so that live fan-out and replay tell the same. */
export type Notification = {
  readonly [N in NotificationName]: {
    readonly method: N;
    readonly params: NotificationParams<N>;
    readonly audience: Audience;
  };
}[NotificationName];

/** `everyone`: each initialized connection that may see the thread; else only those that follow it. */
export type Audience = "everyone" | "subscribers";

export function notify(threadId: string, record: ThreadRecord): readonly Notification[] {
  switch (record.type) {
    case "created":
    case "checkpoint":
    case "loadSettingsChanged":
    case "gitInfoChanged":
    case "sectionChanged":
    case "itemsInjected":
    case "inputAccepted":
    case "contextGiven":
    case "goalContext":
    case "goalTakenUp":
    case "sampleRequested":
    case "textSaved":
    case "toolCalled":
    case "toolDispatched":
    case "toolWaiting":
    case "callCancelled":
    case "subscribed":
    case "subscriptionEnded":
    case "callDeferred":
    case "callNoted":
    case "choiceMade":
    case "choiceDelayed":
    case "choicePosted":
    case "childDue":
    case "childMade":
    case "childEnded":
    case "eventReceived":
    case "eventInjected":
    case "notified":
    case "toolAnswered":
    case "approvalGranted":
    case "sampleLost":
    case "compactionRequested":
    // A question goes to those who are there, and again to those who come: not by way of what they missed.
    case "requestSent":
      return [];
    case "requestResolved":
      return [
        {
          method: "serverRequest/resolved",
          params: { threadId, requestId: record.requestId },
          audience: "subscribers",
        },
      ];
    case "viewUpdated": {
      const { server, callId, viewType, view } = record;
      return [
        {
          method: "thread/view/updated",
          params: { threadId, server, callId, viewType, view },
          audience: "subscribers",
        },
      ];
    }
    case "planUpdated": {
      const { turnId, explanation, plan } = record;
      return [
        {
          method: "turn/plan/updated",
          params: { threadId, turnId, explanation, plan: [...plan] },
          audience: "subscribers",
        },
      ];
    }
    case "compacted": {
      const { turnId, usage: tokenUsage } = record;
      return [
        {
          method: "thread/tokenUsage/updated",
          params: { threadId, turnId, tokenUsage },
          audience: "subscribers",
        },
        { method: "thread/compacted", params: { threadId, turnId }, audience: "subscribers" },
      ];
    }
    case "compactionFailed": {
      const message = `The conversation could not be made shorter, and goes on as it is: ${record.error.message}`;
      return [{ method: "warning", params: { threadId, message }, audience: "subscribers" }];
    }
    case "adopted":
      return [statusChanged(threadId, record.status)];
    case "opened":
      return [statusChanged(threadId, { type: "idle" })];
    case "closed":
      // Clients expect the archive's and the deletion's own notification in its place.
      if (record.reason === "archived" || record.reason === "deleted") {
        return [statusChanged(threadId, { type: "notLoaded" })];
      }
      return [
        statusChanged(threadId, { type: "notLoaded" }),
        { method: "thread/closed", params: { threadId }, audience: "everyone" },
      ];
    case "settingsChanged": {
      const threadSettings = settingsView(record.settings);
      return [
        { method: "thread/settings/updated", params: { threadId, threadSettings }, audience: "subscribers" },
      ];
    }
    case "renamed":
      return [
        {
          method: "thread/name/updated",
          params: { threadId, threadName: record.name },
          audience: "everyone",
        },
      ];
    case "turnsDropped":
      // Older clients take the answer to their rollback for it.
      if (record.by === "rollback") return [];
      return [{ method: "thread/reverted", params: { threadId }, audience: "everyone" }];
    case "statusChanged":
      return [statusChanged(threadId, record.status)];
    case "turnStarted":
      return [
        {
          method: "turn/started",
          params: { threadId, turn: turnStarted(record.turnId, record.at) },
          audience: "subscribers",
        },
      ];
    case "retrying": {
      const { turnId, error } = record;
      return [
        { method: "error", params: { threadId, turnId, error, willRetry: true }, audience: "subscribers" },
      ];
    }
    case "itemStarted":
      return [
        {
          method: "item/started",
          params: { threadId, turnId: record.turnId, item: record.item, startedAtMs: record.at },
          audience: "subscribers",
        },
      ];
    case "itemCompleted":
      return [
        {
          method: "item/completed",
          params: { threadId, turnId: record.turnId, item: record.item, completedAtMs: record.at },
          audience: "subscribers",
        },
      ];
    case "usageReported":
      return [
        {
          method: "thread/tokenUsage/updated",
          params: { threadId, turnId: record.turnId, tokenUsage: record.usage },
          audience: "subscribers",
        },
      ];
    case "submissionQueued":
    case "submissionChanged":
    case "queueReordered":
    case "submissionRemoved":
      return [{ method: "thread/queue/changed", params: { threadId }, audience: "subscribers" }];
    case "modelRerouted": {
      const { turnId, from: fromModel, to: toModel } = record;
      // The only reason that clients know.
      const params = { threadId, turnId, fromModel, toModel, reason: "highRiskCyberActivity" } as const;
      return [{ method: "model/rerouted", params, audience: "subscribers" }];
    }
    case "goalChanged": {
      const { turnId } = record;
      const goal = goalView(threadId, record.goal);
      return [{ method: "thread/goal/updated", params: { threadId, turnId, goal }, audience: "subscribers" }];
    }
    case "goalCleared":
      return [{ method: "thread/goal/cleared", params: { threadId }, audience: "subscribers" }];
    case "turnEnded":
      return [...turnError(threadId, record), turnCompleted(threadId, record)];
  }
}

function statusChanged(threadId: string, status: ThreadStatus): Notification {
  return { method: "thread/status/changed", params: { threadId, status }, audience: "everyone" };
}

type TurnEnded = Extract<ThreadRecord, { type: "turnEnded" }>;

function turnError(threadId: string, { turnId, error }: TurnEnded): readonly Notification[] {
  if (error === null) return [];
  return [
    { method: "error", params: { threadId, turnId, error, willRetry: false }, audience: "subscribers" },
  ];
}

function turnCompleted(threadId: string, record: TurnEnded): Notification {
  const turn: Turn = {
    ...turnStarted(record.turnId, record.startedAt),
    items: record.answer === null ? [] : [record.answer],
    itemsView: record.answer === null ? "notLoaded" : "summary",
    status: record.status,
    error: record.error,
    completedAt: seconds(record.at),
    durationMs: record.at - record.startedAt,
  };
  return { method: "turn/completed", params: { threadId, turn }, audience: "subscribers" };
}

/** A turn as it is told while it runs: its items come as notifications of their own. */
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
