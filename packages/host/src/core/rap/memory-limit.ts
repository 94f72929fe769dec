import { knownWeight, sum } from "../memory-size.ts";
import type { ThreadState } from "../state.ts";
import type { View } from "./records.ts";

/** Limit on the data from tool servers that one thread may hold. The data is in memory and in every checkpoint. */
const MAX_WEIGHT = 16 * 1024 * 1024;
/**
 * The part of `MAX_WEIGHT` that views may use. Views stay until their server removes them, and must leave room for
 * events.
 */
const MAX_VIEWS_WEIGHT = MAX_WEIGHT / 2;

/** Whether a message of a tool server would exceed the thread's limit. */
export function isFullFor(state: ThreadState, coming: object): boolean {
  return rapWeight(state) + knownWeight(coming) > MAX_WEIGHT;
}

/** Whether a view would exceed the limit on views. A new view replaces the view of the same type. */
export function isFullForView({ rap }: ThreadState, type: string, content: View["content"]): boolean {
  const others = rap.views.filter((view) => view.type !== type);
  return Object.keys(content).length > 0 && sum([...others, content], knownWeight) > MAX_VIEWS_WEIGHT;
}

function rapWeight({ rap, requests, children }: ThreadState): number {
  const { subscriptions, late, events, choices, views, keys } = rap;
  const sideRequests = requests.filter(({ aside }) => aside !== undefined);
  const parts: readonly unknown[] = [
    ...subscriptions,
    ...late,
    ...events,
    ...children.map(({ task }) => task?.event),
    ...choices,
    ...views,
    ...keys,
    ...sideRequests,
  ];
  return sum(parts, knownWeight);
}
