import type { RapRecord, RapState, View } from "./records.ts";

type Of<T extends RapRecord["type"]> = Extract<RapRecord, { type: T }>;

/**
 * Limit on the remembered names of events. Repeated events come soon after the first, so the oldest names are
 * dropped.
 */
const KEPT_KEYS = 256;
const KEPT_VIEWS = 64;
/**
 * Limit on cancellations that tool servers have to be notified of. If no server is configured, they stay until the
 * next load.
 */
const MAX_CANCELS = 256;

export function foldSubscribed(rap: RapState, { subscription }: Of<"subscribed">): RapState {
  const others = without(rap.subscriptions, subscription.callId);
  return { ...rap, subscriptions: [...others, subscription] };
}

export function foldSubscriptionEnded(rap: RapState, { callId, by }: Of<"subscriptionEnded">): RapState {
  const ended = { ...rap, subscriptions: without(rap.subscriptions, callId) };
  return by === "cancelled" ? withCancel(ended, callId) : ended;
}

/** Adds a cancellation that tool servers have to be notified of. */
export function withCancel(rap: RapState, callId: string): RapState {
  const { cancels = [] } = rap;
  return { ...rap, cancels: [...cancels.slice(1 - MAX_CANCELS), callId] };
}

export function foldCancelNotified(rap: RapState, { callId }: Of<"cancelNotified">): RapState {
  return withCancelList(rap, rap.cancels?.filter((one) => one !== callId) ?? []);
}

export function withCancelList(rap: RapState, cancels: readonly string[]): RapState {
  if (cancels.length > 0) return { ...rap, cancels };
  const { cancels: _, ...others } = rap;
  return others;
}

export function foldEventReceived(rap: RapState, { event, key }: Of<"eventReceived">): RapState {
  return {
    ...withKey(rap, key),
    late: event.kind === "result" ? without(rap.late, event.call.callId) : rap.late,
    events: [...rap.events, event],
  };
}

export function foldEventInjected(rap: RapState, { event }: Of<"eventInjected">): RapState {
  return { ...rap, events: rap.events.filter(({ id }) => id !== event.id) };
}

export function foldChoiceMade(rap: RapState, { choice }: Of<"choiceMade">): RapState {
  return { ...withKey(rap, choice.key ?? null), choices: [...rap.choices, choice] };
}

export function foldChoiceDelayed(rap: RapState, { requestId, until }: Of<"choiceDelayed">): RapState {
  const choices = rap.choices.map((choice) =>
    choice.requestId === requestId ? { ...choice, until, delays: (choice.delays ?? 0) + 1 } : choice,
  );
  return { ...rap, choices };
}

export function foldChoicePosted(rap: RapState, posted: Of<"choicePosted">): RapState {
  return { ...rap, choices: rap.choices.filter(({ requestId }) => requestId !== posted.requestId) };
}

export function foldViewUpdated(rap: RapState, record: Of<"viewUpdated">): RapState {
  const { viewType: type, server, callId, view: content } = record;
  const others = rap.views.filter((view) => view.type !== type);
  const views: readonly View[] =
    Object.keys(content).length === 0 ? others : [...others, { type, server, callId, content }];
  return { ...rap, views: views.slice(-KEPT_VIEWS) };
}

/** Remembers the name of an event or a choice, to recognize repeats. */
export function withKey(rap: RapState, key: string | null): RapState {
  return key === null ? rap : { ...rap, keys: [...rap.keys.slice(1 - KEPT_KEYS), key] };
}

function without<C extends { readonly callId: string }>(calls: readonly C[], callId: string): readonly C[] {
  return calls.filter((call) => call.callId !== callId);
}
