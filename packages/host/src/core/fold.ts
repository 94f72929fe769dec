import { foldGoal, foldGoalTurn } from "./goal/fold.ts";
import { foldCheckpoint, foldCreated, foldLife } from "./life/fold.ts";
import { foldQueue } from "./queue/fold.ts";
import { foldRap } from "./rap/fold.ts";
import type { ThreadRecord } from "./records.ts";
import { foldRequest } from "./requests/fold.ts";
import type { ThreadState } from "./state.ts";
import { contextTokensAfter } from "./turn/context-size.ts";
import { foldTurn } from "./turn/fold.ts";

/** The state after one more record. Every journal starts with `created`; a checkpoint is as good a start. */
export function fold(state: ThreadState | undefined, record: ThreadRecord): ThreadState {
  if (record.type === "created") return foldCreated(record);
  if (record.type === "checkpoint") return foldCheckpoint(record);
  if (state === undefined) throw new Error(`a journal starts with created, not ${record.type}`);
  const after = foldArea(state, record);
  const contextTokens = contextTokensAfter(state, record);
  return contextTokens === after.contextTokens ? after : { ...after, contextTokens };
}

function foldArea(
  state: ThreadState,
  record: Exclude<ThreadRecord, { type: "created" | "checkpoint" }>,
): ThreadState {
  switch (record.type) {
    case "opened":
    case "adopted":
    case "closed":
    case "notified":
    case "statusChanged":
    case "settingsChanged":
    case "loadSettingsChanged":
    case "renamed":
    case "gitInfoChanged":
    case "sectionChanged":
    case "turnsDropped":
    case "itemsInjected":
      return foldLife(state, record);
    case "turnStarted":
    case "inputAccepted":
    case "contextGiven":
    case "sampleRequested":
    case "retrying":
    case "itemStarted":
    case "textSaved":
    case "itemCompleted":
    case "toolCalled":
    case "toolDispatched":
    case "toolWaiting":
    case "callCancelled":
    case "toolAnswered":
    case "approvalGranted":
    case "planUpdated":
    case "sampleLost":
    case "compactionRequested":
    case "compacted":
    case "compactionFailed":
    case "modelRerouted":
    case "usageReported":
    case "turnEnded":
      return foldGoalTurn(foldTurn(state, record), record);
    case "submissionQueued":
    case "submissionChanged":
    case "queueReordered":
    case "submissionRemoved":
      return { ...state, queue: foldQueue(state.queue, record) };
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
    case "viewUpdated":
      return { ...state, rap: foldRap(state.rap, record) };
    case "requestSent":
    case "requestResolved":
      return foldRequest(state, record);
    case "goalChanged":
    case "goalCleared":
    case "goalContext":
    case "goalTakenUp":
      return foldGoal(state, record);
  }
}
