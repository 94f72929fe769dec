import { expect, it } from "vitest";
import {
  foldCancelNotified,
  foldChoiceMade,
  foldChoicePosted,
  foldEventInjected,
  foldEventReceived,
  foldSubscribed,
  foldSubscriptionEnded,
  foldViewUpdated,
  withCancel,
  withKey,
} from "./fold.ts";
import { NO_RAP, type RapEvent, type RapState } from "./records.ts";

const call = (callId: string) => ({ callId, server: "desk", via: "desk", tool: "watch", args: "{}" });
const subscribed = (callId: string, tool = "watch") =>
  ({ type: "subscribed", at: 1, subscription: { ...call(callId), tool } }) as unknown as Parameters<
    typeof foldSubscribed
  >[1];
const ended = (callId: string, by: "cancelled" | "final") =>
  ({ type: "subscriptionEnded", at: 1, callId, by }) as const;
const notified = (callId: string) =>
  ({ type: "cancelNotified", at: 1, callId }) as unknown as Parameters<typeof foldCancelNotified>[1];
const received = (kind: "result" | "event", callId: string, key: string | null = null) => {
  const event = { id: `event ${callId}`, kind, call: call(callId) } as unknown as RapEvent;
  return { type: "eventReceived", at: 1, event, key } as const;
};

it("has each subscription once, and servers are notified of those that were cancelled", () => {
  const both = [subscribed("a"), subscribed("b"), subscribed("a", "look")].reduce(foldSubscribed, NO_RAP);
  expect(both.subscriptions.map(({ callId, tool }) => [callId, tool])).toEqual([
    ["b", "watch"],
    ["a", "look"],
  ]);
  const final = foldSubscriptionEnded(both, ended("a", "final"));
  expect(final.subscriptions.map(({ callId }) => callId)).toEqual(["b"]);
  expect(final).not.toHaveProperty("cancels");
  const cancelled = foldSubscriptionEnded(final, ended("b", "cancelled"));
  expect(cancelled).toMatchObject({ subscriptions: [], cancels: ["b"] });
  const two = withCancel(cancelled, "c");
  expect(foldCancelNotified(two, notified("b")).cancels).toEqual(["c"]);
  // Nothing is left of it in a checkpoint.
  expect(foldCancelNotified(cancelled, notified("b"))).toStrictEqual(NO_RAP);
  expect(foldCancelNotified(NO_RAP, notified("b"))).toStrictEqual(NO_RAP);
});

it("takes a result from the late calls, and an event from nowhere, until the model has it", () => {
  const late = [call("a"), call("b")].map((one) => ({ ...one, turnId: "turn-1", until: null }));
  const before: RapState = { ...NO_RAP, late };
  const result = foldEventReceived(before, received("result", "a", "key"));
  expect(result.late.map(({ callId }) => callId)).toEqual(["b"]);
  expect(result.keys).toEqual(["key"]);
  const event = foldEventReceived(result, received("event", "b"));
  expect(event.late).toHaveLength(1);
  expect(event.events.map(({ id }) => id)).toEqual(["event a", "event b"]);
  const { event: first } = received("result", "a");
  const injected = { type: "eventInjected", event: first } as unknown as Parameters<
    typeof foldEventInjected
  >[1];
  expect(foldEventInjected(event, injected).events.map(({ id }) => id)).toEqual(["event b"]);
});

it("remembers as many names, cancellations and views as it may", () => {
  const numbers = Array.from({ length: 300 }, (_, nth) => String(nth));
  const keys = numbers.reduce<RapState>(withKey, NO_RAP).keys;
  expect([keys.length, keys[0], keys.at(-1)]).toEqual([256, "44", "299"]);
  const cancels = numbers.reduce<RapState>(withCancel, NO_RAP).cancels!;
  expect([cancels.length, cancels[0], cancels.at(-1)]).toEqual([256, "44", "299"]);
  const view = (viewType: string, content: object) =>
    ({ type: "viewUpdated", at: 1, server: "desk", callId: "c", viewType, view: content }) as Parameters<
      typeof foldViewUpdated
    >[1];
  const views = numbers
    .slice(0, 70)
    .reduce((rap, type) => foldViewUpdated(rap, view(type, { type })), NO_RAP);
  expect([views.views.length, views.views[0]?.type]).toEqual([64, "6"]);
  const replaced = foldViewUpdated(views, view("30", { now: true }));
  expect(replaced.views.at(-1)).toEqual({ type: "30", server: "desk", callId: "c", content: { now: true } });
  expect(replaced.views).toHaveLength(64);
  expect(foldViewUpdated(views, view("30", {})).views).toHaveLength(63);
});

it("has a choice until it is posted", () => {
  const made = (requestId: number, key?: string) =>
    ({ type: "choiceMade", choice: { requestId, key } }) as unknown as Parameters<typeof foldChoiceMade>[1];
  const posted = { type: "choicePosted", at: 1, requestId: 1 } as const;
  const both = foldChoiceMade(foldChoiceMade(NO_RAP, made(1, "key")), made(2));
  expect(both.keys).toEqual(["key"]);
  expect(foldChoicePosted(both, posted).choices.map(({ requestId }) => requestId)).toEqual([2]);
});
