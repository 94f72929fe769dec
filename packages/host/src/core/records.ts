import type { GoalRecord } from "./goal/records.ts";
import type { LifeRecord } from "./life/records.ts";
import type { QueueRecord } from "./queue/records.ts";
import type { RapRecord } from "./rap/records.ts";
import type { RequestRecord } from "./requests/records.ts";
import type { TurnRecord } from "./turn/records.ts";

/** One durable fact about a thread. What a journal can hold is this union, and nothing else. */
export type ThreadRecord = LifeRecord | RequestRecord | TurnRecord | QueueRecord | GoalRecord | RapRecord;

/**
 * The manifest: every record type and the version of its shape that we write. A change of shape raises the number,
 * writes it into the record as `v`, and keeps the fold of the old one; a record without `v` has version 1.
 */
export const RECORD_VERSIONS: { readonly [T in ThreadRecord["type"]]: number } = {
  created: 1,
  opened: 1,
  adopted: 1,
  closed: 1,
  statusChanged: 1,
  settingsChanged: 1,
  loadSettingsChanged: 1,
  renamed: 1,
  gitInfoChanged: 1,
  sectionChanged: 1,
  turnsDropped: 1,
  itemsInjected: 1,
  checkpoint: 1,
  turnStarted: 1,
  inputAccepted: 1,
  contextGiven: 1,
  sampleRequested: 1,
  retrying: 1,
  itemStarted: 1,
  textSaved: 1,
  itemCompleted: 1,
  toolCalled: 1,
  toolDispatched: 1,
  toolWaiting: 1,
  toolAnswered: 1,
  callCancelled: 1,
  subscribed: 1,
  subscriptionEnded: 1,
  callDeferred: 1,
  callNoted: 1,
  choiceMade: 1,
  choiceDelayed: 1,
  choicePosted: 1,
  childDue: 1,
  childMade: 1,
  childEnded: 1,
  eventReceived: 1,
  eventInjected: 1,
  viewUpdated: 1,
  notified: 1,
  approvalGranted: 1,
  planUpdated: 1,
  sampleLost: 1,
  compactionRequested: 1,
  compacted: 1,
  compactionFailed: 1,
  modelRerouted: 1,
  requestSent: 1,
  requestResolved: 1,
  usageReported: 1,
  turnEnded: 1,
  submissionQueued: 1,
  submissionChanged: 1,
  queueReordered: 1,
  submissionRemoved: 1,
  goalChanged: 1,
  goalCleared: 1,
  goalContext: 1,
  goalTakenUp: 1,
};

/** What one append writes. `prev` is the seq that it was decided upon: a writer that lost its place shows. */
export interface Commit {
  readonly seq: number;
  readonly epoch: number;
  readonly prev: number;
  readonly records: readonly ThreadRecord[];
}
