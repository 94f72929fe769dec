import type { JournalRecord } from "./journals.ts";

/** What a record requires the host to do, and the records that show that it was done. */
interface Owed {
  /** The name of the required work; undefined if this record requires none. */
  readonly key: (record: JournalRecord) => string | undefined;
  /** The name of the work that a record completes. */
  readonly done: (record: JournalRecord) => string | undefined;
  /** Whether the work is no longer required when its turn ends. */
  readonly endsWithTurn?: true;
  /** Whether the work is no longer required when the load ends, unless the host died. */
  readonly endsWithLoad?: true;
}

const idOf = (member: unknown, name: string): string => String((member as Record<string, unknown>)[name]);

const is = (record: JournalRecord, ...types: readonly string[]) => types.includes(record.type);

/** By the type of the record that requires the work. */
const OWED: Readonly<Record<string, Owed>> = {
  turnStarted: {
    key: ({ turnId }) => turnId,
    done: (record) => (is(record, "turnEnded") ? record.turnId : undefined),
  },
  sampleRequested: {
    key: ({ turnId }) => turnId,
    done: (record) =>
      is(record, "usageReported", "sampleLost", "compactionRequested") ? record.turnId : undefined,
    endsWithTurn: true,
  },
  compactionRequested: {
    key: ({ turnId }) => turnId,
    done: (record) => (is(record, "compacted", "compactionFailed") ? record.turnId : undefined),
    endsWithTurn: true,
  },
  toolCalled: {
    key: ({ call }) => idOf(call, "callId"),
    done: (record) => (is(record, "toolAnswered", "callCancelled") ? record.callId : undefined),
    endsWithTurn: true,
  },
  requestSent: {
    key: ({ request }) => String(request!.id),
    done: (record) => (is(record, "requestResolved") ? String(record.requestId) : undefined),
  },
  callDeferred: {
    key: ({ call }) => idOf(call, "callId"),
    done: (record) => {
      if (is(record, "callCancelled")) return record.callId;
      return is(record, "eventReceived")
        ? idOf((record.event as { call: unknown }).call, "callId")
        : undefined;
    },
    endsWithLoad: true,
  },
  subscribed: {
    key: ({ subscription }) => idOf(subscription, "callId"),
    done: (record) => (is(record, "subscriptionEnded") ? record.callId : undefined),
    endsWithLoad: true,
  },
  eventReceived: {
    key: ({ event }) => idOf(event, "id"),
    done: (record) => (is(record, "eventInjected") ? idOf(record.event, "id") : undefined),
    endsWithLoad: true,
  },
  childDue: {
    key: ({ childId }) => childId,
    done: (record) => (is(record, "childEnded") ? record.childId : undefined),
    endsWithLoad: true,
  },
  helperDue: {
    key: ({ childId }) => childId,
    done: (record) => (is(record, "helperMade", "helperClosed") ? record.childId : undefined),
    endsWithLoad: true,
  },
  helperMade: {
    key: ({ childId }) => childId,
    done: (record) => (is(record, "helperInputTaken", "helperClosed") ? record.childId : undefined),
    endsWithLoad: true,
  },
  helperInputSent: {
    key: ({ childId }) => childId,
    done: (record) => (is(record, "helperInputTaken", "helperClosed") ? record.childId : undefined),
    endsWithLoad: true,
  },
  choiceMade: {
    key: ({ choice }) => idOf(choice, "requestId"),
    done: (record) => (is(record, "choicePosted") ? String(record.requestId) : undefined),
    endsWithLoad: true,
  },
  networkRuleDecided: {
    key: ({ rule }) => idOf(rule, "requestId"),
    done: (record) => (is(record, "networkRuleSaved") ? String(record.requestId) : undefined),
  },
  submissionQueued: {
    key: ({ submission }) => idOf(submission, "id"),
    done: (record) => (is(record, "submissionRemoved") ? String(record.id) : undefined),
  },
  callCancelled: {
    key: ({ callId }) => callId,
    done: (record) => (is(record, "cancelNotified") ? record.callId : undefined),
  },
  subscriptionEnded: {
    key: ({ by, callId }) => (by === "cancelled" ? callId : undefined),
    done: (record) => (is(record, "cancelNotified") ? record.callId : undefined),
  },
  closed: {
    key: () => "the closing",
    done: (record) => (is(record, "notified") ? "the closing" : undefined),
  },
};

/** The work that a journal requires and that was not done, as texts. */
export function owed(records: readonly JournalRecord[]): readonly string[] {
  const open = new Map<string, Map<string, JournalRecord>>(
    Object.keys(OWED).map((type) => [type, new Map()]),
  );
  for (const record of records) {
    for (const [type, { key, done, endsWithTurn, endsWithLoad }] of Object.entries(OWED)) {
      const waiting = open.get(type)!;
      const finished = done(record);
      if (finished !== undefined) waiting.delete(finished);
      if (endsWithTurn && is(record, "turnEnded")) waiting.clear();
      if (endsWithLoad && is(record, "closed") && record.reason !== "lost") waiting.clear();
      if (!is(record, type)) continue;
      const begun = key(record);
      if (begun !== undefined) waiting.set(begun, record);
    }
  }
  return [...open].flatMap(([type, waiting]) => [...waiting.keys()].map((key) => `${type} ${key}`));
}
