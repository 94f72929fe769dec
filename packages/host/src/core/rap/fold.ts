import type { RapRecord, RapState, View } from "./records.ts";

/** Whoever sends the same again does so soon: it did not hear the answer. */
const KEPT_KEYS = 256;
const KEPT_VIEWS = 64;

export function foldRap(rap: RapState, record: RapRecord): RapState {
  switch (record.type) {
    case "subscribed": {
      const { subscription } = record;
      const others = without(rap.subscriptions, subscription.callId);
      return { ...rap, subscriptions: [...others, subscription] };
    }
    case "subscriptionEnded":
      return { ...rap, subscriptions: without(rap.subscriptions, record.callId) };
    case "callDeferred":
      return { ...rap, late: [...rap.late, record.call] };
    case "eventReceived": {
      const { event, key } = record;
      return {
        ...rap,
        late: event.kind === "result" ? without(rap.late, event.call.callId) : rap.late,
        events: [...rap.events, event],
        keys: key === null ? rap.keys : withKey(rap.keys, key),
      };
    }
    case "childDue": {
      const { childId, event, key } = record;
      const keys = key === null ? rap.keys : withKey(rap.keys, key);
      return { ...rap, keys, children: [...rap.children, { childId, event }] };
    }
    case "childMade":
      return {
        ...rap,
        children: rap.children.map((child) =>
          child.childId === record.childId ? { ...child, event: null } : child,
        ),
      };
    case "childEnded":
      return { ...rap, children: rap.children.filter(({ childId }) => childId !== record.childId) };
    case "eventInjected":
      return { ...rap, events: rap.events.filter(({ id }) => id !== record.event.id) };
    case "callNoted":
      return rap;
    case "choiceMade": {
      const { choice } = record;
      const { key } = choice;
      const keys = key === undefined ? rap.keys : withKey(rap.keys, key);
      return { ...rap, keys, choices: [...rap.choices, choice] };
    }
    case "choiceDelayed": {
      const { requestId, until } = record;
      const choices = rap.choices.map((choice) =>
        choice.requestId === requestId ? { ...choice, until, delays: (choice.delays ?? 0) + 1 } : choice,
      );
      return { ...rap, choices };
    }
    case "choicePosted":
      return { ...rap, choices: rap.choices.filter(({ requestId }) => requestId !== record.requestId) };
    case "viewUpdated": {
      const { viewType: type, server, callId, view: content } = record;
      const others = rap.views.filter((view) => view.type !== type);
      const views: readonly View[] =
        Object.keys(content).length === 0 ? others : [...others, { type, server, callId, content }];
      return { ...rap, views: views.slice(-KEPT_VIEWS) };
    }
  }
}

function withKey(keys: readonly string[], key: string): readonly string[] {
  return [...keys.slice(1 - KEPT_KEYS), key];
}

function without<C extends { readonly callId: string }>(calls: readonly C[], callId: string): readonly C[] {
  return calls.filter((call) => call.callId !== callId);
}
